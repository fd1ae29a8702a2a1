import type {
  AgentCapabilities,
  AuthMethod,
  InitializeResponse,
} from "@agentclientprotocol/sdk/unstable";

/** The only version of the protocol that is spoken; a client of another one gets it offered. */
const PROTOCOL_VERSION = 1;

/** Parts of the protocol that a client says it understands. */
export interface ClientFacts {
  /** Sentences for a person beside the conversation. */
  readonly notices: boolean;
  /** Questions with a form. */
  readonly forms: boolean;
  /** Programs that ask for a key in a terminal. */
  readonly terminals: boolean;
}

const CAPABILITIES: AgentCapabilities = {
  loadSession: true,
  promptCapabilities: { image: false, audio: false, embeddedContext: true },
  mcpCapabilities: { http: true, sse: false },
  sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, fork: {} },
};

/** Id of the way to set a key. */
export const SETUP = "setup";

const ABOUT_SETUP =
  "Run `reprise setup` in a terminal: it asks for a provider and its key, and tests them.";

/** Reads what a client can do; whatever is not true is false. */
export function clientFacts(params: unknown): ClientFacts {
  const has = (...path: string[]): boolean => {
    const value = path.reduce(fieldOf, fieldOf(params, "clientCapabilities"));
    return value === true || (typeof value === "object" && value !== null);
  };
  return {
    notices: has("session", "notices"),
    forms: has("elicitation", "form"),
    terminals: has("auth", "terminal"),
  };
}

/** Answers `initialize`; null for parameters that the protocol does not have. */
export function initializeAnswer(
  params: unknown,
  { version, facts }: { readonly version: string; readonly facts: ClientFacts },
): InitializeResponse | null {
  if (!Number.isInteger(fieldOf(params, "protocolVersion"))) {
    return null;
  }
  const name = { id: SETUP, name: "Set a key", description: ABOUT_SETUP };
  const setup: AuthMethod = facts.terminals ? { ...name, type: "terminal", args: ["setup"] } : name;
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: CAPABILITIES,
    agentInfo: { name: "reprise", title: "Reprise", version },
    authMethods: [setup],
  };
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
