import { comparedText } from "./search.ts";

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

/** An excerpt begins and ends between two characters as a person sees them. Blanks become spaces, so that it is one line. */
export function excerptOf(text: string, words: readonly string[]): Excerpt {
  const compared = comparedText(text);
  const places = words.map((word) => compared.indexOf(word)).filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const start = startOf(text, first);
  const end = endOf(text, start, first);
  const marks = marksIn(compared.slice(start), words, end - start);
  return { excerpt: text.slice(start, end).replace(/\s/gu, " "), marks };
}

function startOf(text: string, first: number): number {
  const from = Math.max(0, first - 2 * BEFORE);
  // the first one may be cut
  const characters = charactersOf(text.slice(from, first)).slice(from === 0 ? 0 : 1);
  let [start, points] = [first, 0];
  for (const character of characters.toReversed()) {
    points += Array.from(character).length;
    if (points > BEFORE) {
      break;
    }
    start -= character.length;
  }
  return start;
}

function endOf(text: string, start: number, first: number): number {
  const shown = text.slice(start, start + SPLIT_UNITS);
  let [end, points] = [start, 0];
  for (const character of charactersOf(shown)) {
    points += Array.from(character).length;
    if (points > EXCERPT_LENGTH) {
      break;
    }
    end += character.length;
  }
  // a character of hundreds of code points is cut
  const cut = Array.from(shown).slice(0, EXCERPT_LENGTH).join("");
  return end > first ? end : start + cut.length;
}

/** Parts of a text between which a cursor can be. */
function charactersOf(text: string): string[] {
  return Array.from(CHARACTERS.segment(text), ({ segment }) => segment);
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
