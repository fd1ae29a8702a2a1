import { TITLE_LENGTH } from "../limits.ts";

/**
 * True for text that both engines give back unchanged. PostgreSQL refuses NUL, and both turn a
 * lone surrogate into U+FFFD without a word, so such text is refused at the edge instead.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/**
 * Text as both engines can keep it: without NUL, and with U+FFFD for each lone surrogate. A model may
 * answer with either, and its answer must not be lost; what a client sends is refused instead.
 */
export function storableText(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "") : whole;
}

/** For JSON.stringify: makes every text of a value storable, and leaves out members `__proto__`, as LangChain's JSON of a message does. */
export function storableReplacer(key: string, value: unknown): unknown {
  if (key === PROTOTYPE) {
    return undefined;
  }
  return typeof value === "string" ? storableText(value) : value;
}

/** True for a member's name that a stored message keeps. */
export function isStorableName(name: string): boolean {
  return name !== PROTOTYPE && isStorableText(name);
}

const PROTOTYPE = "__proto__";

/** True for valid percent-encoding, as `decodeURIComponent` reads it. */
export function isPercentEncoded(text: string): boolean {
  try {
    // a bundler leaves out the call if nothing uses its result
    return decodeURIComponent(text).length <= text.length;
  } catch {
    return false;
  }
}

/** The first 50 code points of the first user message: never half a surrogate pair. */
export function titleOf(content: string): string {
  // 2 UTF-16 units a code point at most: a 1 MiB message is not spread into an array
  return Array.from(content.slice(0, TITLE_LENGTH * 2))
    .slice(0, TITLE_LENGTH)
    .join("");
}

/**
 * Tokens of a text that no provider has counted: one for four UTF-8 bytes, rounded up, which
 * is what the providers' own guides give for English. An estimate, and shown as one.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, "utf8") / 4);
}

/** A size for people: `12.5`. */
export function mebibytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1);
}

/** `1 message`, `2 messages`. */
export function plural(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
