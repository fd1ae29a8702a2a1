import { MODEL_ATTEMPTS } from "../../core/limits.ts";
import type { ModelOverride } from "./facts.ts";
import { DEMO_MODEL } from "./name.ts";
import { type ProviderConfig, type ProviderEntry, providersOf } from "./provider-config.ts";

/** What the models need from the environment and the user's config. */
export interface ModelConfig {
  /** The model for sessions and personas that name none. */
  readonly model: string | null;
  /** Those that come with Reprise and those of the config, by their names. */
  readonly providers: Readonly<Record<string, ProviderConfig>>;
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

/** Used if a key is set and no model is named: current, balanced models that support tools. */
export const DEFAULT_MODELS = [
  { provider: "anthropic", model: "claude-sonnet-5-5" },
  { provider: "openai", model: "gpt-6.1-sol" },
] as const;

/**
 * Reads the environment: REPRISE_MODEL, REPRISE_CONTEXT_TOKENS, and the variables of each provider. A blank variable
 * counts as unset. What they say is checked when a model is opened, so that a bad one hinders nothing else. `entries`
 * are the providers of the user's config.
 */
export function modelConfig(
  env: Readonly<Record<string, string | undefined>>,
  entries: Readonly<Record<string, ProviderEntry>> = {},
): ModelConfig {
  return {
    model: setting(env["REPRISE_MODEL"]),
    providers: providersOf(env, entries),
    retries: MODEL_ATTEMPTS - 1,
    retryDelayMs: 1000,
    timeoutMs: 120_000,
    idle: { beforeTextMs: 300_000, afterTextMs: 60_000 },
    contextTokens: setting(env["REPRISE_CONTEXT_TOKENS"]),
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
export function configuredModels({ providers }: ModelConfig): string[] {
  return DEFAULT_MODELS.flatMap(({ provider, model }) => {
    const config = providers[provider];
    return config !== undefined && hasKey(config) ? [`${provider}:${model}`] : [];
  });
}

/** True if a key is known or can be read. */
export function hasKey({ apiKey, readKey }: Pick<ProviderConfig, "apiKey" | "readKey">): boolean {
  return apiKey !== null || readKey !== undefined;
}

/** With the key of a provider, which is read if it is not known. Error codes: `config_invalid`. */
export async function withKey(config: ModelConfig, provider: string): Promise<ModelConfig> {
  const found = config.providers[provider];
  if (found === undefined || found.apiKey !== null || found.readKey === undefined) {
    return config;
  }
  const { readKey, ...rest } = found;
  const keyed = { ...rest, apiKey: await readKey() };
  return { ...config, providers: { ...config.providers, [provider]: keyed } };
}

function setting(value: string | undefined): string | null {
  const text = value?.trim() ?? "";
  return text === "" ? null : text;
}
