import type { Secret } from "../secrets.ts";
import { lettersAlone, plainLetters, readings, type TracedText } from "./traced-text.ts";

/** Takes secrets, and what looks like one, out of a text that somebody else wrote. */
export type Scrub = (text: string) => string;

/** Shown in the place of what is taken out. */
const GONE = "[…]";

/** Characters of a secret that may not be shown in a row. */
const PART = 8;
/** Shorter secrets, of this length at least, may not be shown as a whole word. */
const SHORT = 4;

/** Forms of secrets that are not known here. */
const PATTERNS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|xai|gsk|ghp|hf)[-_][\w-]{4,}/gi,
  // of Amazon
  /\bA[KS]IA[A-Z\d]{8,}/g,
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

/** A text whose middle is hidden, as `sk-…abcd` or `*****abcd`. */
const MASKED = /([\w+/-]*)([*•●]{2,}|\.{3,}|…)([\w+/-]*)/g;
const CODE = /[\w+/-]{4,}/g;

/** Texts that show secrets: any part of `PART` characters of one of their forms, their ends, and whole short ones. */
interface Known {
  readonly parts: ReadonlySet<string>;
  readonly forms: readonly string[];
  readonly words: readonly string[];
}

/** Marks a part of a text that is to be taken out. */
type Mark = (from: number, to: number) => void;

/**
 * Makes a scrub that knows these secrets: as they are, in base64 and in hexadecimal, and any 8 characters of one of these
 * in a row, also with escapes of URLs, JSON or HTML, in capitals, and with line breaks and signs between. Secrets of less
 * than 8 characters are known as whole words, and longer ones by their last 4 characters as a word. E-mail addresses, and long pieces of hexadecimal or base64, are taken out
 * too.
 */
export function createScrub(secrets: readonly Secret[]): Scrub {
  let made: Known | null = null;
  return (text) => {
    made ??= knownOf(secrets.map(({ value }) => value.trim()));
    const known = made;
    const hidden = withoutMarked(text, (mark) => {
      for (const reading of readings(text)) {
        markKnown(reading, known, mark);
        markEnds(reading, known, mark);
        markPatterns(reading, mark);
      }
    });
    const left = hidden.replace(ENCODED, (found) => (isWords(found) ? found : GONE));
    return left.replace(/\[…\](?:\s*\[…\])+/g, GONE);
  };
}

function isWords(text: string): boolean {
  return text.split(/[-_/]+/).every((word) => word === "" || WORDS.test(word));
}

function knownOf(values: readonly string[]): Known {
  const parts = new Set<string>();
  const forms = values.filter(({ length }) => length >= PART).flatMap(formsOf);
  for (const form of forms) {
    for (const text of [form.toLowerCase(), plainLetters(form)]) {
      for (let at = 0; at + PART <= text.length; at += 1) {
        parts.add(text.slice(at, at + PART));
      }
    }
  }
  return { parts, forms, words: values.filter(({ length }) => length >= SHORT && length < PART) };
}

function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  // a secret may begin anywhere in three bytes that base64 encodes together
  const encoded = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .slice(before === 0 ? 0 : 4);
    // the last letter is another one if something follows
    return [text.replace(/.?=+$/, ""), text.replace(/=+$/, "")];
  });
  return [
    value,
    // as decoded escapes of its bytes give it
    bytes.toString("latin1"),
    bytes.toString("hex"),
    ...encoded,
    ...encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

function markKnown(reading: TracedText, { parts, words }: Known, mark: Mark): void {
  for (const { text, from, to } of [lowered(reading), lettersAlone(reading)]) {
    for (let at = 0; at + PART <= text.length; at += 1) {
      if (parts.has(text.slice(at, at + PART))) {
        mark(from[at] ?? 0, to[at + PART - 1] ?? 0);
      }
    }
  }
  for (const word of words) {
    markWord(reading, word, mark);
  }
}

/** Marks the end of a secret that is quoted alone, and both sides of one whose middle is hidden. */
function markEnds({ text, from, to }: TracedText, { forms }: Known, mark: Mark): void {
  const markFound = (at: number, length: number): void =>
    mark(from[at] ?? 0, to[at + length - 1] ?? 0);
  for (const { index, 0: found, 1: before = "", 2: hidden = "", 3: after = "" } of text.matchAll(
    MASKED,
  )) {
    const isMask = /^[*•●]{3}/.test(hidden);
    const isShown = forms.some(
      (form) =>
        (after.length > 1 && form.endsWith(after)) ||
        (before.length >= SHORT && form.startsWith(before)),
    );
    if (isMask || isShown) {
      markFound(index, found.length);
    }
  }
  for (const { index, 0: found } of text.matchAll(CODE)) {
    if (!isOneWord(found) && forms.some((form) => form.endsWith(found))) {
      markFound(index, found.length);
    }
  }
}

/** True for letters with a capital at most as the first: nobody can distinguish them from a word of the sentence. */
function isOneWord(text: string): boolean {
  return /^[A-Za-z][a-z]*$/.test(text);
}

const IN_WORD = /[\p{L}\p{N}]/u;

function markWord({ text, from, to }: TracedText, word: string, mark: Mark): void {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    if (!IN_WORD.test(text.charAt(at - 1)) && !IN_WORD.test(text.charAt(end))) {
      mark(from[at] ?? 0, to[end - 1] ?? 0);
    }
  }
}

function markPatterns({ text, from, to }: TracedText, mark: Mark): void {
  for (const pattern of PATTERNS) {
    for (const { index, 0: found } of text.matchAll(pattern)) {
      mark(from[index] ?? 0, to[index + found.length - 1] ?? 0);
    }
  }
}

/** In lower case. If a letter becomes longer in it, nothing is changed: letters alone have it. */
function lowered({ text, from, to }: TracedText): TracedText {
  const lower = text.toLowerCase();
  return { text: lower.length === text.length ? lower : text, from, to };
}

/** The text with one sign in the place of each part that `find` marks. */
function withoutMarked(text: string, find: (mark: Mark) => void): string {
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
 * Takes out what a text repeats of others, compared by its letters and digits: it may be escaped, quoted, wrapped or in
 * capitals. Costs time in proportion to their length.
 */
export function withoutRepeated(text: string, others: Iterable<string>): string {
  const views = readings(text)
    .map(lettersAlone)
    .map((view) => ({ view, pieces: piecesOf(view.text) }));
  return withoutMarked(text, (mark) => {
    for (const other of text.length < PIECE ? [] : others) {
      const words = plainLetters(other);
      for (const { view, pieces } of views) {
        markRepeated(view, { pieces, words }, mark);
      }
    }
  });
}

interface Repeated {
  readonly pieces: ReadonlyMap<string, readonly number[]>;
  readonly words: string;
}

/** Pieces of a text, each with the positions at which it begins. */
function piecesOf(letters: string): ReadonlyMap<string, readonly number[]> {
  const pieces = new Map<string, number[]>();
  for (let at = 0; at + PIECE <= letters.length; at += 1) {
    const piece = letters.slice(at, at + PIECE);
    const places = pieces.get(piece);
    if (places === undefined) {
      pieces.set(piece, [at]);
    } else {
      places.push(at);
    }
  }
  return pieces;
}

function markRepeated({ text, from, to }: TracedText, repeated: Repeated, mark: Mark): void {
  const { pieces, words } = repeated;
  // a text that repeats itself has the same around many pieces
  const seen = new Set<string>();
  for (let start = 0; start + PIECE <= words.length; start += PIECE) {
    const places = pieces.get(words.slice(start, start + PIECE));
    const around = words.slice(Math.max(0, start - COMMON), start + PIECE + COMMON);
    if (places === undefined || seen.has(around)) {
      continue;
    }
    seen.add(around);
    for (const at of places) {
      const [begin, end] = commonPart(text, at, words, start);
      if (end - begin >= COMMON) {
        mark(from[begin] ?? 0, to[end - 1] ?? 0);
      }
    }
  }
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
