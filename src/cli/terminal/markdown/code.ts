import type { Highlighter } from "./highlight.ts";
import { drawRow, type Row, wrapOpen, wrapRuns } from "./runs.ts";

/** The state of a block of code. */
export interface Code {
  /** Null for plain text. */
  language: string | null;
  /** Lines since the last one that ended outside of a comment and the like. */
  context: readonly string[];
  /** Lines that wait for the highlighter. */
  held: string[];
  /** Characters so far. */
  size: number;
  /** The beginning of the next row, of a long line. */
  carry: Row;
  hasRows: boolean;
}

/** Characters; what comes after them is plain. */
const MAX_HIGHLIGHTED = 200_000;
/** Lines; more are not kept until the highlighter is loaded. */
const MAX_HELD = 500;
/** Columns that set code apart, as colours may be missing. */
const INDENT = 2;
/** Columns of the widest character. */
const MIN_COLUMNS = 2;

export function newCode(language: string | null): Code {
  return { language, context: [], held: [], size: 0, carry: [], hasRows: false };
}

interface Drawing {
  readonly columns: number;
  readonly highlighter: Highlighter;
}

/** Reads a line or a piece of a long one. Returns the rows that are final. */
export function readCode(
  code: Code,
  {
    text,
    continues,
    ends,
  }: { readonly text: string; readonly continues: boolean; readonly ends: boolean },
  drawing: Drawing,
): string[] {
  code.size += text.length + 1;
  const isPlain = continues || !ends || code.size > MAX_HIGHLIGHTED || code.held.length >= MAX_HELD;
  if (code.language !== null && isPlain) {
    return [
      ...flushCode(code, drawing, null),
      ...readCode(code, { text, continues, ends }, drawing),
    ];
  }
  if (code.language !== null) {
    code.held.push(text);
    return drawing.highlighter.state === "loading" ? [] : flushCode(code, drawing, code.language);
  }
  const runs = [...code.carry, { text, style: null }];
  if (ends) {
    code.carry = [];
    return wrapRuns(runs, widthOf(drawing)).map((row) => drawn(row, drawing));
  }
  const { rows, carry } = wrapOpen(runs, widthOf(drawing));
  code.carry = carry;
  return rows.map((row) => drawn(row, drawing));
}

/** The rows of lines that waited. */
export function flushCode(code: Code, drawing: Drawing, language: string | null): string[] {
  const { highlighter } = drawing;
  const held = code.held;
  [code.held, code.language] = [[], language];
  return held.flatMap((text) => {
    if (language === null) {
      return wrapRuns([{ text, style: null }], widthOf(drawing)).map((row) => drawn(row, drawing));
    }
    const { runs, context } = highlighter.line(language, code.context, text);
    code.context = context;
    return wrapRuns(runs, widthOf(drawing)).map((row) => drawn(row, drawing));
  });
}

function widthOf({ columns }: Drawing): number {
  return Math.max(1, columns - indentOf(columns));
}

/** Leaves columns for the widest character beside it. */
function indentOf(columns: number): number {
  return Math.max(0, Math.min(INDENT, columns - MIN_COLUMNS));
}

function drawn(row: Row, { columns }: Drawing): string {
  return `${" ".repeat(indentOf(columns))}${drawRow(row)}`;
}
