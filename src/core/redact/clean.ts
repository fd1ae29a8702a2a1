import type { Secrets } from "../secrets.ts";

/** Takes out what must not be shared; `where` says what the text is, for a preview. */
export type Clean = (text: string, where: string) => string;

export interface Cleaner {
  readonly text: Clean;
  /** Cleans each text of a value of JSON, and takes out one whose name says that it is a secret. */
  readonly value: (value: unknown, where: string) => unknown;
}

export const NOTHING_CLEANED: Cleaner = { text: (text) => text, value: (value) => value };

export interface RedactSource {
  /** Home folder of the person. */
  readonly home?: string | undefined;
  /** Reads the texts that the config names. Error codes: `config_invalid`. */
  readonly patterns?: (() => Promise<readonly string[]>) | undefined;
  readonly secrets?: Secrets | undefined;
}

/** Part of a text that goes: its kind, its place, and what may be seen of it. */
export interface Redaction {
  readonly kind: string;
  readonly where: string;
  readonly masked: string;
}

/**
 * Cleans a text that may have been cut to `max` characters: what is left of a secret at its end has no known form, so a
 * last word that is not of letters goes too.
 */
export function cleanCut(
  text: string,
  {
    max,
    where,
    cleaner,
  }: { readonly max: number; readonly where: string; readonly cleaner: Cleaner },
): string {
  const cleaned = cleaner.text(text, where);
  const isCut = cleaner !== NOTHING_CLEANED && Array.from(text).length >= max - 1;
  return isCut
    ? cleaned.replace(/(?<!\S)(?![\p{L}.,:;!?'-]*$)[^\s[\]]+$/u, "[redacted: cut off]")
    : cleaned;
}
