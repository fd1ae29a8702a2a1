/** Code points of an excerpt. */
const EXCERPT_LENGTH = 160;
/** Characters of an excerpt before the first word. */
const BEFORE = 40;
/** UTF-16 units of a text that are split into characters: two a code point, and a few for the last character. */
const SPLIT_UNITS = 2 * EXCERPT_LENGTH + 80;

const CHARACTERS = new Intl.Segmenter("en");

/** Part of a text around the first word, and where words are in it, in UTF-16 units. */
export interface Excerpt {
  readonly excerpt: string;
  readonly marks: readonly (readonly [from: number, to: number])[];
}

interface ExcerptText {
  readonly text: string;
  /** As `comparedText` returns it. */
  readonly compared: string;
}

/** An excerpt begins and ends between two characters as a person sees them. Blanks become spaces, so that it is one line. */
export function excerptOf({ text, compared }: ExcerptText, words: readonly string[]): Excerpt {
  const places = words.map((word) => compared.indexOf(word)).filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const start = startOf(text, first);
  const end = endOf(text, start, first);
  const marks = marksIn(compared.slice(start), words, end - start);
  return { excerpt: text.slice(start, end).replace(/\s/gu, " "), marks };
}

function startOf(text: string, first: number): number {
  const from = Math.max(0, first - 2 * BEFORE);
  const before = text.slice(from, first);
  const at = beforeLast(before, BEFORE);
  // the first character may be cut
  return from + (at === 0 && from === 0 ? 0 : endOfCharacter(before, at));
}

function endOf(text: string, start: number, first: number): number {
  const shown = text.slice(start, start + SPLIT_UNITS);
  const cut = afterFirst(shown, EXCERPT_LENGTH);
  const end = start + startOfCharacter(shown, cut);
  // a character of hundreds of code points is cut
  return end > first ? end : start + cut;
}

/** The place after the first code points of a text. An array of them would take longer than all else of a search. */
function afterFirst(text: string, count: number): number {
  let at = 0;
  for (let n = 0; n < count && at < text.length; n += 1) {
    at += isPair(text, at) ? 2 : 1;
  }
  return at;
}

/** The place before the last code points of a text. */
function beforeLast(text: string, count: number): number {
  let at = text.length;
  for (let n = 0; n < count && at > 0; n += 1) {
    at -= isPair(text, at - 2) ? 2 : 1;
  }
  return at;
}

function isPair(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}

/** The place itself if a character begins there, else the beginning of the one that it is in. */
function startOfCharacter(text: string, at: number): number {
  return isBetween(text, at) ? at : (CHARACTERS.segment(text).containing(at)?.index ?? at);
}

/** The place itself if a character begins there, else the end of the one that it is in. */
function endOfCharacter(text: string, at: number): number {
  if (at > 0 && isBetween(text, at)) {
    return at;
  }
  const { index, segment } = CHARACTERS.segment(text).containing(at) ?? { index: at, segment: "" };
  return at > 0 && index === at ? at : index + segment.length;
}

/** No code point below this one joins another; it is most of many texts, and the segmenter takes a hundred times as long. */
const FIRST_COMBINING = 0x300;

/** True if two characters are sure to meet there. */
function isBetween(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before < FIRST_COMBINING && after < FIRST_COMBINING && before !== 0x0d;
}

/** Places of words up to an end; of a word that goes beyond it, the part before. */
function marksIn(compared: string, words: readonly string[], end: number): [number, number][] {
  const found = words
    .flatMap((word) => occurrences(compared.slice(0, end + word.length - 1), word))
    .toSorted(([from, to], [other, until]) => from - other || until - to);
  const marks: [number, number][] = [];
  for (const [from, to] of found) {
    const last = marks.at(-1);
    if (last !== undefined && from <= last[1]) {
      last[1] = Math.min(end, Math.max(last[1], to));
    } else {
      marks.push([from, Math.min(end, to)]);
    }
  }
  return marks;
}

function occurrences(text: string, word: string): [number, number][] {
  const found: [number, number][] = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
    found.push([at, at + word.length]);
  }
  return found;
}
