import { type Code, flushCode, newCode, readCode } from "./code.ts";
import { languageOf } from "./highlight.ts";
import { inlineRuns, safeCut } from "./inline.ts";
import { columnsOf, placed } from "./layout.ts";
import * as lines from "./lines.ts";
import { drawRow, type Row, type Run, wrapOpen, wrapRuns } from "./runs.ts";
import type { Line, Parsing, State } from "./state.ts";
import { alignsOf, cellsOf, splitCells, tableRows } from "./table.ts";

/** The beginning of a longer paragraph is final, whatever comes later. */
const MAX_PARAGRAPH = 2000;
/** A longer table is continued as another one with the same header. */
const MAX_TABLE_ROWS = 200;
const MAX_TABLE_SIZE = 16_000;

/** Reads the content of a line in the innermost frame. Returns the rows that are final. */
export function readLeaf(state: State, line: Line, on: Parsing): string[] {
  for (const frame of state.frames.slice(-1)) {
    frame.ones = 0;
  }
  const text = line.text.trim();
  if (state.leaf.kind !== "paragraph" && lines.indentOf(line.text) >= 4 && text !== "") {
    return indentedLine(state, line, on);
  }
  const block = line.ends ? readBlock(state, line.text, on) : null;
  if (block !== null) {
    return block;
  }
  if (state.leaf.kind === "paragraph") {
    return addText(state, `\n${line.text.trimStart()}`, on);
  }
  const rows = closeLeaf(state, on);
  state.leaf = { kind: "paragraph", text: "", carry: [] };
  return [...rows, ...addText(state, line.text.trimStart(), on)];
}

/** Null for a line of a paragraph. */
function readBlock(state: State, text: string, on: Parsing): string[] | null {
  const { leaf } = state;
  const level = lines.underlineLevel(text);
  if (leaf.kind === "paragraph" && leaf.carry.length === 0 && level !== null) {
    state.leaf = { kind: "none" };
    return headingRows(state, { level, text: leaf.text }, on);
  }
  const heading = lines.headingOf(text);
  if (heading !== null) {
    return [...closeLeaf(state, on), ...headingRows(state, heading, on)];
  }
  const fence = lines.fenceStart(text);
  if (fence !== null) {
    const rows = closeLeaf(state, on);
    const language = languageOf(fence.language);
    const code = newCode(language !== null && on.highlighter.begin() ? language : null);
    state.leaf = { kind: "code", sign: fence.sign, indent: fence.indent, code };
    const note = `${language === null ? fence.language : ""} ${fence.note}`.trim();
    const run = { text: note, style: on.theme.dim };
    const notes = note === "" ? [] : wrapRuns([run], columnsOf(state, on)).map(drawRow);
    return [...rows, ...placeCode(state, code, notes, on)];
  }
  if (lines.isRule(text)) {
    const rows = closeLeaf(state, on);
    const rule = on.theme.dim("─".repeat(columnsOf(state, on)));
    return [...rows, ...placed(state, on, { kind: "rule", rows: [rule] })];
  }
  return readTable(state, text, on);
}

function headingRows(
  state: State,
  { level, text }: { readonly level: number; readonly text: string },
  on: Parsing,
): string[] {
  const { theme } = on;
  const style = (each: string): string =>
    level < 3 ? theme.accent(theme.bold(each)) : theme.bold(each);
  const marks: Run[] =
    theme.name === "none" ? [{ text: `${"#".repeat(level)} `, style: null }] : [];
  const rows = wrapRuns([...marks, ...inlineRuns(text, theme, style)], columnsOf(state, on));
  return placed(state, on, { kind: "heading", rows: rows.map(drawRow) });
}

/** A row of a table, or the line that makes one of the line before it. */
function readTable(state: State, text: string, on: Parsing): string[] | null {
  const { leaf } = state;
  const { theme } = on;
  if (leaf.kind === "table" && splitCells(text) !== null) {
    const { table } = leaf;
    leaf.table = { ...table, rows: [...table.rows, cellsOf(text, table.aligns, theme)] };
    leaf.size += text.length;
    const isFull = leaf.table.rows.length >= MAX_TABLE_ROWS || leaf.size > MAX_TABLE_SIZE;
    if (!isFull) {
      return [];
    }
    const rows = tableRows(leaf.table, theme, columnsOf(state, on));
    state.leaf = { ...leaf, table: { ...table, rows: [] }, size: 0 };
    return placed(state, on, { kind: "table", rows });
  }
  const aligns = leaf.kind === "paragraph" ? alignsOf(text) : null;
  if (leaf.kind !== "paragraph" || aligns === null) {
    return null;
  }
  const at = leaf.text.lastIndexOf("\n") + 1;
  const head = leaf.text.slice(at);
  if (splitCells(head)?.length !== aligns.length || (at === 0 && leaf.carry.length > 0)) {
    return null;
  }
  leaf.text = leaf.text.slice(0, Math.max(0, at - 1));
  const rows = leaf.text === "" ? [] : closeLeaf(state, on);
  const header = cellsOf(head, aligns, theme, theme.bold);
  state.leaf = { kind: "table", table: { aligns, header, rows: [] }, size: 0 };
  return rows;
}

/** Adds text to the paragraph that is open. */
export function addText(state: State, text: string, on: Parsing): string[] {
  const { leaf } = state;
  if (leaf.kind !== "paragraph") {
    return [];
  }
  leaf.text += text;
  const rows: string[] = [];
  while (leaf.text.length > MAX_PARAGRAPH) {
    const at = safeCut(leaf.text.slice(0, MAX_PARAGRAPH));
    const runs = [...leaf.carry, ...inlineRuns(leaf.text.slice(0, at), on.theme)];
    const wrapped = wrapOpen(runs, columnsOf(state, on));
    leaf.carry = wrapped.carry;
    leaf.text = leaf.text.slice(at);
    rows.push(...placeText(state, wrapped.rows, on));
  }
  return rows;
}

function placeText(state: State, rows: readonly Row[], on: Parsing): string[] {
  return placed(state, on, { kind: "paragraph", rows: rows.map(drawRow) });
}

function indentedLine(state: State, line: Line, on: Parsing): string[] {
  const rows = state.leaf.kind === "code" ? [] : closeLeaf(state, on);
  const { leaf } = state;
  const code = leaf.kind === "code" ? leaf.code : newCode(null);
  state.leaf = { kind: "code", sign: null, indent: 4, code };
  return [...rows, ...codeRows(state, code, { ...line, text: line.text.slice(4) }, on)];
}

/** A line of code, or the end of a fence. */
export function fenceLine(state: State, line: Line, on: Parsing): string[] {
  const { leaf } = state;
  if (leaf.kind !== "code") {
    return [];
  }
  if (leaf.sign !== null && line.ends && lines.closesFence(line.text, leaf.sign)) {
    return closeLeaf(state, on);
  }
  const indent = Math.min(leaf.indent, lines.indentOf(line.text));
  return codeRows(state, leaf.code, { ...line, text: line.text.slice(indent) }, on);
}

export function codeRows(state: State, code: Code, line: Line, on: Parsing): string[] {
  return placeCode(
    state,
    code,
    readCode(code, line, { columns: columnsOf(state, on), highlighter: on.highlighter }),
    on,
  );
}

function placeCode(state: State, code: Code, rows: readonly string[], on: Parsing): string[] {
  const isMore = code.hasRows;
  code.hasRows ||= rows.length > 0;
  return placed(state, on, { kind: "code", rows, isMore });
}

/** Ends the block that is open. */
export function closeLeaf(state: State, on: Parsing): string[] {
  const { leaf } = state;
  state.leaf = { kind: "none" };
  const columns = columnsOf(state, on);
  switch (leaf.kind) {
    case "none":
      return [];
    case "paragraph":
      return placeText(
        state,
        wrapRuns([...leaf.carry, ...inlineRuns(leaf.text.trimEnd(), on.theme)], columns),
        on,
      );
    case "code": {
      const { highlighter } = on;
      const language = highlighter.state === "loading" ? null : leaf.code.language;
      const rows = flushCode(leaf.code, { columns, highlighter }, language);
      return placeCode(state, leaf.code, rows, on);
    }
    case "table":
      return placed(state, on, { kind: "table", rows: tableRows(leaf.table, on.theme, columns) });
  }
}
