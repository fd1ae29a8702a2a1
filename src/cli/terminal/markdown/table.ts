import type { Theme } from "../text/theme.ts";
import { inlineRuns } from "./inline.ts";
import { drawRow, longestWord, type Row, rowWidth, type Run, wrapRuns } from "./runs.ts";

export interface Cell {
  readonly runs: readonly Run[];
  /** Columns of its longest line, and of its longest word. */
  readonly width: number;
  readonly wordWidth: number;
}

export type Align = "left" | "right" | "center";

export interface Table {
  readonly aligns: readonly Align[];
  readonly header: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A column is not made narrower than its longest word, unless that is longer. */
const MAX_WORD = 16;
const GAP = 3;
const MAX_COLUMNS = 50;

/** Aligned columns; cells that are too wide are wrapped. If even that does not fit, each row is a list of fields. */
export function tableRows(table: Table, theme: Theme, width: number): string[] {
  const all = [table.header, ...table.rows];
  const natural = table.header.map((_, at) => widest(all, at, (cell) => cell.width));
  const least = table.header.map((_, at) => widest(all, at, (cell) => cell.wordWidth));
  const available = width - GAP * (natural.length - 1);
  if (sum(least) > available) {
    return fieldRows(table, theme, width);
  }
  const columns = fitted(natural, least, available);
  const rule = (sign: string, cross: string): string =>
    theme.dim(columns.map((each) => sign.repeat(each)).join(`${sign}${cross}${sign}`));
  const lines = all.map((cells) => cellRows(cells, columns, table.aligns, theme));
  const isFolded = lines.some((rows) => rows.length > 1);
  return lines.flatMap((rows, at) =>
    at === 0
      ? [...rows, rule("━", "┿")]
      : isFolded && at < lines.length - 1
        ? [...rows, rule("─", "┼")]
        : rows,
  );
}

function widest(
  rows: readonly (readonly Cell[])[],
  at: number,
  of: (cell: Cell) => number,
): number {
  return rows.reduce((most, cells) => {
    const cell = cells[at];
    return cell === undefined ? most : Math.max(most, of(cell));
  }, 1);
}

/** Takes from the widest columns first. */
function fitted(natural: readonly number[], least: readonly number[], available: number): number[] {
  const columns = [...natural];
  for (let over = sum(columns) - available; over > 0; over -= 1) {
    let most = -1;
    for (const [at, each] of columns.entries()) {
      if (each > (least[at] ?? 1) && (most < 0 || each > (columns[most] ?? 0))) {
        most = at;
      }
    }
    columns[most] = (columns[most] ?? 1) - 1;
  }
  return columns;
}

function cellRows(
  cells: readonly Cell[],
  columns: readonly number[],
  aligns: readonly Align[],
  theme: Theme,
): string[] {
  const wrapped = columns.map((width, at) => wrapRuns(cells[at]?.runs ?? [], width));
  const height = wrapped.reduce((most, rows) => Math.max(most, rows.length), 1);
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((width, at) => padded(wrapped[at]?.[row] ?? [], width, aligns[at] ?? "left"))
      .join(` ${theme.dim("│")} `)
      .trimEnd(),
  );
}

function padded(row: Row, width: number, align: Align): string {
  const drawn = drawRow(row);
  const free = Math.max(0, width - rowWidth(row));
  const before = align === "right" ? free : align === "center" ? Math.floor(free / 2) : 0;
  return `${" ".repeat(before)}${drawn}${" ".repeat(free - before)}`;
}

function fieldRows({ header, rows }: Table, theme: Theme, width: number): string[] {
  const rule = theme.dim("─".repeat(Math.min(width, 20)));
  const fields = (cells: readonly Cell[]): string[] =>
    cells.flatMap((cell, at) => {
      const name = header[at]?.runs ?? [];
      const colon = name.length === 0 ? [] : [{ text: ": ", style: null }];
      return wrapRuns([...name, ...colon, ...cell.runs], Math.max(1, width - 2)).map((row, line) =>
        line === 0 ? drawRow(row) : `  ${drawRow(row)}`,
      );
    });
  return rows.length === 0
    ? fields(header.map((cell) => ({ ...cell, runs: [] })))
    : rows.flatMap((cells, at) => (at === 0 ? fields(cells) : [rule, ...fields(cells)]));
}

/** Cells of a line with `|`; null for a line without. */
export function splitCells(line: string): string[] | null {
  const text = line.trim();
  if (!text.includes("|")) {
    return null;
  }
  const cells = text
    .replace(/^\|/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
  return cells.length > 1 && cells.at(-1) === "" ? cells.slice(0, -1) : cells;
}

/** The line below a header, such as `|:--|--:|`; null for another. */
export function alignsOf(line: string): Align[] | null {
  const cells = splitCells(line);
  if (
    cells === null ||
    cells.length > MAX_COLUMNS ||
    !cells.every((cell) => /^:?-+:?$/.test(cell))
  ) {
    return null;
  }
  return cells.map((cell) =>
    cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left",
  );
}

/** As many cells as the table has columns. */
export function cellsOf(
  line: string,
  { length }: { readonly length: number },
  theme: Theme,
  style: ((text: string) => string) | null = null,
): Cell[] {
  const all = splitCells(line) ?? [];
  // cells without a column are shown in the last one
  const texts = [...all.slice(0, length - 1), all.slice(length - 1).join(" | ")];
  return Array.from({ length }, (_, at) => {
    const runs = inlineRuns(texts[at] ?? "", theme, style);
    return {
      runs,
      width: wrapRuns(runs, Number.MAX_SAFE_INTEGER).reduce(
        (most, row) => Math.max(most, rowWidth(row)),
        0,
      ),
      wordWidth: Math.min(MAX_WORD, longestWord(runs)),
    };
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
