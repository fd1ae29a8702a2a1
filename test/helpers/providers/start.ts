import { claudeApi } from "./claude/api.ts";
import { type ClaudeAccount, claudeMemory } from "./claude/memory.ts";
import { type OllamaModel, ollamaApi } from "./ollama.ts";
import { chatApi, responsesApi } from "./openai/apis.ts";
import type { ChatQuirks } from "./openai/chat-quirks.ts";
import { chatMemory } from "./openai/chat-request.ts";
import { responsesMemory } from "./openai/responses-request.ts";
import { type Api, type ProviderServer, type Script, serveProvider } from "./server.ts";

export const PROVIDERS = ["openai", "anthropic", "ollama"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** Without it, each exchange with a made-up model would begin with a notice of what is assumed. */
export const KNOWN_CONTEXT = { REPRISE_CONTEXT_TOKENS: "128000" } as const;

export interface ProviderOptions extends ClaudeAccount, OllamaModel {
  /** How the server of chat completions differs from OpenAI's. */
  readonly quirks?: ChatQuirks;
  /** Ids of rules that are recorded with the request and not enforced. */
  readonly forgives?: readonly string[];
}

export interface Provider extends ProviderServer {
  /** The environment of a program that is to use it. */
  readonly env: Readonly<Record<string, string>>;
  /** Lets the time pass by which prompt caches count. It passes in no other way. */
  advance(ms: number): void;
}

/**
 * Starts a model provider on loopback that answers as a script says, in the form of its API, and refuses what the real
 * one refuses. Each rule names its source.
 */
export async function startProvider(
  name: ProviderName,
  script: Script,
  options: ProviderOptions = {},
): Promise<Provider> {
  let time = 0;
  const apis = apisOf(name, options, () => time);
  const { forgives = [] } = options;
  const server = await serveProvider({ apis, script, forgives });
  return Object.assign(server, {
    env: { ...KNOWN_CONTEXT, ...ENVIRONMENTS[name](server.url), REPRISE_MODEL: `${name}:test` },
    advance: (ms: number) => {
      time += ms;
    },
  });
}

/** The APIs of a provider. */
export function apisOf(
  name: ProviderName,
  options: ProviderOptions,
  now: () => number,
): readonly Api[] {
  return APIS[name](options, now);
}

type MakeApis = (options: ProviderOptions, now: () => number) => readonly Api[];

const APIS: Readonly<Record<ProviderName, MakeApis>> = {
  anthropic: (account, now) => [claudeApi(claudeMemory(account, now))],
  openai: ({ quirks = {} }, now) => [
    chatApi(chatMemory(quirks, now)),
    responsesApi(responsesMemory(now)),
  ],
  ollama: (model) => [ollamaApi(model)],
};

const ENVIRONMENTS: Record<ProviderName, (url: string) => Record<string, string>> = {
  openai: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "test-key" }),
  anthropic: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "test-key" }),
  ollama: (url) => ({ OLLAMA_BASE_URL: url }),
};
