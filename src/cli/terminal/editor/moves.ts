import { findWordBackward, findWordForward, getGraphemeSegmenter } from "../pi/text.ts";

/** A position in lines; `column` counts UTF-16 units and is never within a character. */
export interface Spot {
  readonly line: number;
  readonly column: number;
}

export type Move = (lines: readonly string[], from: Spot) => Spot;

/** Characters that are longer than this are not written by people; it bounds a step. */
const MAX_CHARACTER = 200;

export const left: Move = (lines, { line, column }) => {
  if (column === 0) {
    return line === 0
      ? { line, column }
      : { line: line - 1, column: lineAt(lines, line - 1).length };
  }
  const before = lineAt(lines, line).slice(Math.max(0, column - MAX_CHARACTER), column);
  const last = [...getGraphemeSegmenter().segment(before)].at(-1);
  return { line, column: column - (last?.segment.length ?? 1) };
};

export const right: Move = (lines, { line, column }) => {
  const text = lineAt(lines, line);
  if (column >= text.length) {
    return line === lines.length - 1 ? { line, column } : { line: line + 1, column: 0 };
  }
  const [next] = getGraphemeSegmenter().segment(text.slice(column, column + MAX_CHARACTER));
  return { line, column: column + (next?.segment.length ?? 1) };
};

export const wordLeft: Move = (lines, from) =>
  from.column === 0
    ? left(lines, from)
    : { ...from, column: findWordBackward(lineAt(lines, from.line), from.column, CHIP_IS_A_WORD) };

export const wordRight: Move = (lines, from) => {
  const text = lineAt(lines, from.line);
  return from.column >= text.length
    ? right(lines, from)
    : { ...from, column: findWordForward(text, from.column, CHIP_IS_A_WORD) };
};

export const lineStart: Move = (_, { line }) => ({ line, column: 0 });

export const lineEnd: Move = (lines, { line }) => ({ line, column: lineAt(lines, line).length });

/** As `lineStart`, and from there to the end of the line before: a further kill joins lines. */
export const killStart: Move = (lines, from) =>
  from.column === 0 ? left(lines, from) : lineStart(lines, from);

export const killEnd: Move = (lines, from) => {
  const end = lineEnd(lines, from);
  return end.column === from.column ? right(lines, from) : end;
};

export function lineAt(lines: readonly string[], line: number): string {
  return lines[line] ?? "";
}

const CHIP_IS_A_WORD = {
  isAtomicSegment: (segment: string) => /^[\u{100000}-\u{10fffd}]/u.test(segment),
};
