import {
  CACHE_LIVES,
  type CacheLife,
  type Effort,
  EFFORTS,
  type ModelChoice,
} from "../../core/model-settings.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** The word for what null is: the model's own, or that of the config. */
const DEFAULT = "default";

/** Reads an effort; null for `default`. Error codes: `invalid_usage`. */
export const effortOf = (text: string): Effort | null => wordOf("Effort", text, EFFORTS);

/** Reads how long the provider keeps a conversation. Error codes: `invalid_usage`. */
export const cacheOf = (text: string): CacheLife | null => wordOf("Cache", text, CACHE_LIVES);

/** As an option: commander takes null for nothing. */
export const effortOption = (text: string): Effort | typeof DEFAULT => effortOf(text) ?? DEFAULT;
export const cacheOption = (text: string): CacheLife | typeof DEFAULT => cacheOf(text) ?? DEFAULT;

/** What options set: what is not given is left out. */
export function givenSettings({ effort, cache }: SettingOptions): Partial<ModelChoice> {
  return {
    ...(effort === undefined ? {} : { effort: effort === DEFAULT ? null : effort }),
    ...(cache === undefined ? {} : { cache: cache === DEFAULT ? null : cache }),
  };
}

export interface SettingOptions {
  readonly effort?: Effort | typeof DEFAULT;
  readonly cache?: CacheLife | typeof DEFAULT;
}

/** The words that each takes. */
export const SETTING_WORDS = {
  effort: [...EFFORTS, DEFAULT],
  cache: [...CACHE_LIVES, DEFAULT],
} as const satisfies Record<keyof ModelChoice, readonly string[]>;

function wordOf<Word extends string>(
  what: string,
  text: string,
  words: readonly Word[],
): Word | null {
  const word = words.find((each) => each === text);
  if (word === undefined && text !== DEFAULT) {
    throw wrongUsage(`${what} is ${words.join(", ")} or ${DEFAULT}.`);
  }
  return word ?? null;
}
