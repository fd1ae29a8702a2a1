import {
  CACHE_LIVES,
  type CacheLife,
  type Effort,
  EFFORTS,
  type Fallback,
  MAX_FALLBACKS,
  type ModelChoice,
} from "../../core/model-settings.ts";
import { effortUnknown } from "../../core/invalid-request.ts";
import { parseModelName } from "../../rules/models/name.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** The word for what null is: the model's own, or that of the config. */
const DEFAULT = "default";

/** Reads an effort; null for `default`. Error codes: `effort_unknown`. */
export function effortOf(text: string): Effort | null {
  const effort = EFFORTS.find((each) => each === text) ?? null;
  if (effort === null && text !== DEFAULT) {
    throw effortUnknown();
  }
  return effort;
}

/** Reads how long the provider keeps a conversation. Error codes: `invalid_usage`. */
export function cacheOf(text: string): CacheLife | null {
  const life = CACHE_LIVES.find((each) => each === text) ?? null;
  if (life === null && text !== DEFAULT) {
    throw wrongUsage(`Cache is ${CACHE_LIVES.join(", ")} or ${DEFAULT}.`);
  }
  return life;
}

/** The word for an empty list. */
const NONE = "none";

/**
 * Reads names of models with commas or spaces between them; null for `default`, and no models for `none`.
 * Error codes: `invalid_usage`, `model_unknown`.
 */
export function fallbackOf(text: string): Fallback | null {
  if (text === DEFAULT) {
    return null;
  }
  const names = text === NONE ? [] : text.split(/[\s,]+/).filter((name) => name !== "");
  if (names.length > MAX_FALLBACKS || (names.length === 0 && text !== NONE)) {
    throw wrongUsage(`Fallback is up to ${MAX_FALLBACKS} models, ${NONE} or ${DEFAULT}.`);
  }
  names.forEach(parseModelName);
  if (new Set(names).size < names.length) {
    throw wrongUsage("Fallback names a model twice; name each once.");
  }
  return names;
}

/** Returns the list as `fallbackOf` reads it. */
export function fallbackWords(fallback: Fallback | null): string {
  return fallback === null ? DEFAULT : fallback.length === 0 ? NONE : fallback.join(", ");
}

/** As an option: commander takes null for nothing. */
export const effortOption = (text: string): Effort | typeof DEFAULT => effortOf(text) ?? DEFAULT;
export const cacheOption = (text: string): CacheLife | typeof DEFAULT => cacheOf(text) ?? DEFAULT;
export const fallbackOption = (text: string): Fallback | typeof DEFAULT =>
  fallbackOf(text) ?? DEFAULT;

/** What options set: what is not given is left out. */
export function givenSettings({ effort, cache, fallback }: SettingOptions): Partial<ModelChoice> {
  return {
    ...(effort === undefined ? {} : { effort: effort === DEFAULT ? null : effort }),
    ...(cache === undefined ? {} : { cache: cache === DEFAULT ? null : cache }),
    ...(fallback === undefined ? {} : { fallback: fallback === DEFAULT ? null : fallback }),
  };
}

export interface SettingOptions {
  readonly effort?: Effort | typeof DEFAULT;
  readonly cache?: CacheLife | typeof DEFAULT;
  readonly fallback?: Fallback | typeof DEFAULT;
}

/** The words that each takes. */
export const SETTING_WORDS = {
  effort: [...EFFORTS, DEFAULT],
  cache: [...CACHE_LIVES, DEFAULT],
  fallback: [NONE, DEFAULT],
} as const satisfies Record<keyof ModelChoice, readonly string[]>;
