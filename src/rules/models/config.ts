import { type CacheLife, DEFAULT_CACHE_LIFE } from "./cache-life.ts";
import { MODEL_ATTEMPTS } from "../../core/limits.ts";
import type { ModelOverride } from "./facts.ts";
import { DEMO_MODEL, type Provider } from "./name.ts";

/** What the models need from the environment. Addresses and keys are null if none is set. */
export interface ModelConfig {
  /** The model for sessions and personas that name none. */
  readonly model: string | null;
  readonly anthropic: ProviderConfig;
  readonly openai: ProviderConfig & { readonly api?: OpenAiApi };
  readonly ollama: { readonly baseUrl: string | null };
  /** How often a call that failed with a transient error is repeated. */
  readonly retries: number;
  /** The shortest wait before the first of them; it doubles with each. */
  readonly retryDelayMs: number;
  /** How long a provider may take to begin its answer, in milliseconds. */
  readonly timeoutMs: number;
  /** How long a provider that has begun its answer may send nothing of it. */
  readonly idle: IdleLimits;
  /** Tokens that every model is taken to read at most, verbatim; null if it is not set. */
  readonly contextTokens: string | null;
  /** How long providers keep what they have read of a conversation. */
  readonly cache: CacheLife;
  /** What the user's config says of models, by `provider:model`. */
  readonly overrides: Readonly<Record<string, ModelOverride>>;
}

/** How long a provider may send nothing of an answer, in milliseconds. */
export interface IdleLimits {
  /** Before its first text or tool call, and while it reports that it reasons. */
  readonly beforeTextMs: number;
  /** After its first character of text or of a tool call. */
  readonly afterTextMs: number;
}

/** How OpenAI is asked: its own address takes both, and most compatible servers take Chat Completions alone. */
export type OpenAiApi = "chat" | "responses";

export interface ProviderConfig {
  readonly apiKey: string | null;
  /** Reads the key, if there is one that is not known yet. Error codes: `config_invalid`. */
  readonly readKey?: () => Promise<string>;
  readonly baseUrl: string | null;
}

/** Used if a key is set and no model is named: current, balanced models that support tools. */
const ANTHROPIC_DEFAULT = "anthropic:claude-sonnet-5";
const OPENAI_DEFAULT = "openai:gpt-5.1";

/**
 * Reads the environment: REPRISE_MODEL, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY,
 * OPENAI_BASE_URL, OLLAMA_BASE_URL or else OLLAMA_HOST, and REPRISE_CONTEXT_TOKENS. A blank
 * variable counts as unset. What they say is checked when a model is opened, so that a bad one
 * hinders nothing else.
 */
export function modelConfig(env: Readonly<Record<string, string | undefined>>): ModelConfig {
  return {
    model: setting(env["REPRISE_MODEL"]),
    anthropic: {
      apiKey: setting(env["ANTHROPIC_API_KEY"]),
      baseUrl: setting(env["ANTHROPIC_BASE_URL"]),
    },
    openai: {
      apiKey: setting(env["OPENAI_API_KEY"]),
      baseUrl: setting(env["OPENAI_BASE_URL"]),
    },
    ollama: { baseUrl: setting(env["OLLAMA_BASE_URL"]) ?? ollamaUrl(setting(env["OLLAMA_HOST"])) },
    retries: MODEL_ATTEMPTS - 1,
    retryDelayMs: 1000,
    timeoutMs: 120_000,
    idle: { beforeTextMs: 300_000, afterTextMs: 60_000 },
    contextTokens: setting(env["REPRISE_CONTEXT_TOKENS"]),
    cache: DEFAULT_CACHE_LIFE,
    overrides: {},
  };
}

/**
 * The model for sessions that name none: REPRISE_MODEL, else Anthropic's or OpenAI's default if its
 * key is set (Anthropic first), else the offline demo.
 */
export function defaultModel(config: ModelConfig): string {
  return config.model ?? configuredModels(config)[0] ?? DEMO_MODEL;
}

/** The models that are used if a key is set and no model is named, of the providers that have one. */
export function configuredModels({ anthropic, openai }: ModelConfig): string[] {
  return [
    ...(hasKey(anthropic) ? [ANTHROPIC_DEFAULT] : []),
    ...(hasKey(openai) ? [OPENAI_DEFAULT] : []),
  ];
}

/** True if a key is known or can be read. */
export function hasKey({ apiKey, readKey }: ProviderConfig): boolean {
  return apiKey !== null || readKey !== undefined;
}

/** With the key of a provider, which is read if it is not known. Error codes: `config_invalid`. */
export async function withKey(config: ModelConfig, provider: Provider): Promise<ModelConfig> {
  if (provider !== "anthropic" && provider !== "openai") {
    return config;
  }
  const { apiKey, readKey, baseUrl } = config[provider];
  return apiKey !== null || readKey === undefined
    ? config
    : { ...config, [provider]: { ...config[provider], apiKey: await readKey(), baseUrl } };
}

function setting(value: string | undefined): string | null {
  const text = value?.trim() ?? "";
  return text === "" ? null : text;
}

/** OLLAMA_HOST is `host`, `host:port` or a URL, and often the address that the server binds. */
function ollamaUrl(host: string | null): string | null {
  if (host === null) {
    return null;
  }
  const text = host.includes("://") ? host : `http://${host}`;
  if (!URL.canParse(text)) {
    return text;
  }
  const url = new URL(text);
  if (url.hostname === "0.0.0.0") {
    url.hostname = "127.0.0.1";
  }
  if (url.hostname === "[::]") {
    url.hostname = "[::1]";
  }
  if (url.port === "" && !host.includes("://")) {
    url.port = "11434";
  }
  return url.href.replace(/\/$/, "");
}
