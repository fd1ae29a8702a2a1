import type { Secret } from "../secrets.ts";

/** Takes secrets, and what looks like one, out of a text that somebody else wrote. */
export type Scrub = (text: string) => string;

/** Shown in the place of what is taken out. */
const GONE = "[…]";

/** Characters of a secret that may not be shown in a row. */
const PART = 8;

/** Forms of secrets that are not known here. */
const PATTERNS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|xai|gsk|ghp|hf)[-_][\w-]{4,}/g,
  /\bAIza[\w-]{4,}/g,
  // a JSON web token
  /\beyJ[\w-]{6,}(?:\.[\w-]+)*/g,
  /\b(?:Bearer|Basic)\s+[^\s"',;]+/gi,
  /\b[\w-]*(?:key|token|secret|passw(?:or)?d|signature|authorization)["']?\s*[=:]\s*["']?[^\s"',;&)]{6,}/gi,
  // name and password in an address
  /(?<=:\/\/)[^\s/@"']+@/g,
  /[\w.+%-]+@[\w-]+(?:\.[\w-]+)+/g,
];

/** Hexadecimal and base64 in one piece: nothing else is so long. */
const ENCODED = /[A-Za-z0-9+/_%=-]{24,}/g;
/** Words and numbers, as names of models and of error codes have them. */
const WORDS = /^(?:[a-z]{1,20}|[A-Z]?[a-z]{1,19}|[A-Z]{1,20}|\d{1,8}|[a-z]{1,12}\d{1,3})$/;

/**
 * Makes a scrub that knows these secrets: as they are, percent-encoded, in base64 and in hexadecimal, and any 8 characters
 * of one of these in a row. E-mail addresses, and long pieces of hexadecimal or base64, are taken out too.
 */
export function createScrub(secrets: readonly Secret[]): Scrub {
  const parts = new Set<string>();
  for (const { value } of secrets) {
    for (const form of formsOf(value.trim())) {
      for (let at = 0; at + PART <= form.length; at += 1) {
        parts.add(form.slice(at, at + PART));
      }
    }
  }
  return (text) => {
    const hidden = PATTERNS.reduce(
      (left, pattern) => left.replace(pattern, GONE),
      withoutParts(text, parts),
    );
    const left = hidden.replace(ENCODED, (found) => (isWords(found) ? found : GONE));
    return left.replace(/\[…\](?:\s*\[…\])+/g, GONE);
  };
}

function isWords(text: string): boolean {
  return text.split(/[-_/]+/).every((word) => word === "" || WORDS.test(word));
}

function formsOf(value: string): readonly string[] {
  if (value.length < PART) {
    return [];
  }
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  // a secret may begin anywhere in three bytes that base64 encodes together
  const encoded = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .slice(before === 0 ? 0 : 4)
      .replace(/.?=+$/, ""),
  );
  return [
    value,
    encodeURIComponent(value.toWellFormed()),
    hex.replace(/../g, "%$&"),
    hex,
    ...encoded,
    ...encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
  ].map((form) => form.toLowerCase());
}

function withoutParts(text: string, parts: ReadonlySet<string>): string {
  const lower = text.toLowerCase();
  if (parts.size === 0 || lower.length !== text.length) {
    return parts.size === 0 ? text : withoutParts(lower, parts);
  }
  return withoutMarked(text, (mark) => {
    for (let at = 0; at + PART <= lower.length; at += 1) {
      if (parts.has(lower.slice(at, at + PART))) {
        mark(at, at + PART);
      }
    }
  });
}

/** The text with one sign in the place of each part that `find` marks. */
function withoutMarked(
  text: string,
  find: (mark: (from: number, to: number) => void) => void,
): string {
  const gone = new Uint8Array(text.length);
  find((from, to) => gone.fill(1, from, to));
  let left = "";
  for (let at = 0; at < text.length; at += 1) {
    if (gone[at] !== 1) {
      left += text.charAt(at);
    } else if (gone[at - 1] !== 1) {
      left += GONE;
    }
  }
  return left;
}

/** Letters and digits in a row that a text may have in common with what it must not repeat. */
const COMMON = 32;
/** Every common part has a whole piece of this length at a multiple of it. */
const PIECE = COMMON / 2;

/**
 * Takes out what a text repeats of others, compared by its letters and digits: it may be escaped, quoted or wrapped.
 * Costs time in proportion to their length.
 */
export function withoutRepeated(text: string, others: Iterable<string>): string {
  const places: number[] = [];
  const compact = text.replace(/[\p{L}\p{N}]|(.)/gsu, (found: string, other, at: number) => {
    if (other !== undefined) {
      return "";
    }
    for (let unit = 0; unit < found.length; unit += 1) {
      places.push(at + unit);
    }
    return found;
  });
  const pieces = new Map<string, number[]>();
  for (let at = 0; at + PIECE <= compact.length; at += 1) {
    const piece = compact.slice(at, at + PIECE);
    pieces.set(piece, [...(pieces.get(piece) ?? []), at]);
  }
  return withoutMarked(text, (mark) => {
    for (const other of pieces.size === 0 ? [] : others) {
      const words = other.replace(/[^\p{L}\p{N}]+/gu, "");
      for (let from = 0; from + PIECE <= words.length; from += PIECE) {
        for (const at of pieces.get(words.slice(from, from + PIECE)) ?? []) {
          const [begin, end] = commonPart(compact, at, words, from);
          if (end - begin >= COMMON) {
            mark(places[begin] ?? 0, (places[end - 1] ?? 0) + 1);
          }
        }
      }
    }
  });
}

/** Returns begin and end, in `text`, of the part that it has in common with `other` around these positions. */
function commonPart(text: string, at: number, other: string, from: number): [number, number] {
  let before = 0;
  while (at > before && from > before && text[at - before - 1] === other[from - before - 1]) {
    before += 1;
  }
  let length = PIECE;
  while (at + length < text.length && text[at + length] === other[from + length]) {
    length += 1;
  }
  return [at - before, at + length];
}
