import { cjkBreakRegex, getGraphemeSegmenter, visibleWidth } from "../pi/text.ts";

/** Cleaned text in one style; null for none. A line feed begins a new row. */
export interface Run {
  readonly text: string;
  readonly style: ((text: string) => string) | null;
}

export type Row = readonly Run[];

/** A row with the sequences of its styles, without white space at its end. Each row closes what it opens. */
export function drawRow(row: Row): string {
  const runs = trimmedEnd(row);
  let drawn = "";
  for (let at = 0; at < runs.length;) {
    const style = runs[at]?.style ?? null;
    let text = "";
    while (at < runs.length && (runs[at]?.style ?? null) === style) {
      text += runs[at]?.text ?? "";
      at += 1;
    }
    drawn += style === null || text === "" ? text : style(text);
  }
  return drawn;
}

export function rowWidth(row: Row): number {
  return row.reduce((width, { text }) => width + visibleWidth(text), 0);
}

/** Columns of the longest word. */
export function longestWord(runs: readonly Run[]): number {
  const words = linesOf(runs).flatMap(wordsOf);
  return words.reduce(
    (most, { kind, width }) => (kind === "space" ? most : Math.max(most, width)),
    0,
  );
}

function trimmedEnd(row: Row): Run[] {
  const runs = [...row];
  for (let last = runs.pop(); last !== undefined; last = runs.pop()) {
    const text = last.text.trimEnd();
    if (text !== "") {
      runs.push({ ...last, text });
      break;
    }
  }
  return runs;
}

interface Word {
  readonly runs: Run[];
  width: number;
  /** A single is a character of a script without spaces: a row may end before and after it. */
  readonly kind: "word" | "space" | "single";
}

/**
 * Wraps at words to rows of at most `width` columns; a longer word is broken. A row begins as if nothing came
 * before it: wrapping the last row together with more text gives what wrapping all at once gives.
 */
export function wrapRuns(runs: readonly Run[], width: number): Row[] {
  const rows: Row[] = [];
  for (const line of linesOf(runs)) {
    let row: Run[] = [];
    let used = 0;
    for (const word of wordsOf(line)) {
      if (used + word.width <= width || (word.kind === "space" && used > 0)) {
        row.push(...word.runs);
        used += word.width;
        continue;
      }
      if (used > 0) {
        rows.push(row);
        [row, used] = [[], 0];
      }
      const broken = breakRuns(word.runs, width);
      row = [...(broken.pop() ?? [])];
      used = rowWidth(row);
      rows.push(...broken);
    }
    rows.push(row);
  }
  return rows;
}

/** Length of the text that waits for the end of its row: text without a width never ends one. */
const MAX_CARRY = 4000;

/** Wraps what may be continued: the last row is not final, and is wrapped again together with what follows. */
export function wrapOpen(
  runs: readonly Run[],
  width: number,
): { readonly rows: Row[]; readonly carry: Row } {
  const rows = wrapRuns(runs, width);
  const last = rows.at(-1) ?? [];
  const isLong = last.reduce((size, { text }) => size + text.length, 0) > MAX_CARRY;
  return isLong ? { rows, carry: [] } : { rows: rows.slice(0, -1), carry: last };
}

/** Breaks one line after `width` columns each. */
function breakRuns(runs: readonly Run[], width: number): Row[] {
  const rows: Run[][] = [[]];
  let used = 0;
  for (const { text, style } of runs) {
    let piece = "";
    for (const each of graphemesOf(text)) {
      const columns = visibleWidth(each);
      if (used + columns > width && used > 0) {
        rows.at(-1)?.push({ text: piece, style });
        rows.push([]);
        [piece, used] = ["", 0];
      }
      piece += each;
      used += columns;
    }
    rows.at(-1)?.push({ text: piece, style });
  }
  return rows;
}

function linesOf(runs: readonly Run[]): Run[][] {
  const lines: Run[][] = [[]];
  for (const { text, style } of runs) {
    for (const [at, line] of text.split("\n").entries()) {
      if (at > 0) {
        lines.push([]);
      }
      if (line !== "") {
        lines.at(-1)?.push({ text: line, style });
      }
    }
  }
  return lines;
}

function wordsOf(line: readonly Run[]): Word[] {
  const words: Word[] = [];
  for (const { text, style } of line) {
    for (const { part, kind } of partsOf(text)) {
      const last = words.at(-1);
      const width = visibleWidth(part);
      if (last?.kind === kind && kind !== "single") {
        last.runs.push({ text: part, style });
        last.width += width;
      } else {
        words.push({ runs: [{ text: part, style }], width, kind });
      }
    }
  }
  return words;
}

interface TextPart {
  part: string;
  readonly kind: Word["kind"];
}

/** Such a character does not begin a row. */
const CLOSING = /^[。、，．！？：；）」』】〉》]/u;

function partsOf(text: string): TextPart[] {
  return (text.match(/ +|[^ ]+/g) ?? []).flatMap((part) =>
    part.startsWith(" ")
      ? [{ part, kind: "space" }]
      : cjkBreakRegex.test(part)
        ? singleParts(part)
        : [{ part, kind: "word" }],
  );
}

function singleParts(word: string): TextPart[] {
  const parts: TextPart[] = [];
  for (const each of graphemesOf(word)) {
    const last = parts.at(-1);
    const isSingle = cjkBreakRegex.test(each) && !CLOSING.test(each);
    if (last !== undefined && !isSingle && (last.kind === "word" || CLOSING.test(each))) {
      last.part += each;
    } else {
      parts.push({ part: each, kind: isSingle ? "single" : "word" });
    }
  }
  return parts;
}

/** Splits ASCII into its characters. */
function graphemesOf(text: string): Iterable<string> {
  return /^[ -~]*$/.test(text)
    ? text
    : Array.from(getGraphemeSegmenter().segment(text), ({ segment }) => segment);
}
