import { RepriseError } from "../../core/errors.ts";
import type { ModelConfig } from "./config.ts";
import { parseModelName } from "./name.ts";

/**
 * The context that Ollama is asked for. Its own default is a few thousand tokens, and past it the
 * oldest messages are dropped without a word, which is the one thing a session must not do.
 */
const OLLAMA_CONTEXT_TOKENS = 16_384;

/** For models nobody has written down: what every current hosted model takes at least. */
const UNKNOWN_TOKENS = 32_768;

/** The demo keeps everything: nothing is ever summarised for it. */
const DEMO_TOKENS = 1_000_000;

/**
 * Input tokens by the beginning of the name, longest first if one is the beginning of another. From
 * the profiles in @langchain/anthropic 1.5.11 and @langchain/openai 1.5.8 (themselves from
 * models.dev); Claude 4 and 4.5 stay at 200,000, because their million needs a beta header that is
 * not sent.
 */
const FAMILIES: readonly (readonly [string, number])[] = [
  ["claude-opus-4-6", 1_000_000],
  ["claude-opus-4-7", 1_000_000],
  ["claude-opus-4-8", 1_000_000],
  ["claude-opus-5", 1_000_000],
  ["claude-sonnet-4-6", 1_000_000],
  ["claude-sonnet-5", 1_000_000],
  ["claude-fable-5", 1_000_000],
  ["claude-", 200_000],
  ["gpt-5.5", 1_050_000],
  ["gpt-5.4-", 400_000],
  ["gpt-5.4", 1_050_000],
  ["gpt-5.3-codex-spark", 128_000],
  ["gpt-5.2-chat", 128_000],
  ["gpt-5.1-chat", 128_000],
  ["gpt-5", 400_000],
  ["gpt-4.1", 1_047_576],
  ["gpt-4o", 128_000],
  ["gpt-4-turbo", 128_000],
  ["gpt-4", 8_192],
  ["gpt-3.5-turbo", 16_385],
  ["o1-preview", 128_000],
  ["o1-mini", 128_000],
  ["o1", 200_000],
  ["o3", 200_000],
  ["o4-mini", 200_000],
];

/** Fewer hold no prompt, summary and question. */
const MIN_TOKENS = 1000;

/**
 * As `contextWindow`, or what REPRISE_CONTEXT_TOKENS says of every model.
 *
 * Error codes: as `contextWindow`, `config_invalid` unless that is a whole number of 1,000 or more.
 */
export function windowOf(input: { readonly name: string; readonly config: ModelConfig }): number {
  const { contextTokens } = input.config;
  if (contextTokens === null) {
    return contextWindow(input.name);
  }
  const tokens = Number(contextTokens);
  if (Number.isSafeInteger(tokens) && tokens >= MIN_TOKENS) {
    return tokens;
  }
  throw new RepriseError(
    "config_invalid",
    `REPRISE_CONTEXT_TOKENS must be a whole number of ${MIN_TOKENS} or more; correct or unset it.`,
  );
}

/**
 * Tokens that a model reads at most, history and prompt together; a careful guess if the model is
 * unknown. Error codes: `model_unknown` for an invalid model name.
 */
export function contextWindow(name: string): number {
  const { provider, model } = parseModelName(name);
  if (provider === "demo") {
    return DEMO_TOKENS;
  }
  if (provider === "ollama") {
    return OLLAMA_CONTEXT_TOKENS;
  }
  return FAMILIES.find(([start]) => model.startsWith(start))?.[1] ?? UNKNOWN_TOKENS;
}
