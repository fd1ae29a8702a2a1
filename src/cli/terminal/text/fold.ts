import { getGraphemeSegmenter, visibleWidth } from "../pi/text.ts";

/** Columns of a tab, as the screen shows it: a terminal's own tab stops could wrap a row. */
const TAB = "    ";

/** Characters to a column, of a line that is cut. */
const MAX_TO_A_COLUMN = 20;

/**
 * Cuts a cleaned line, without styles, into rows of at most `width` columns, cut after spaces if there are some. No
 * character is left out, spaces neither: each may count in a command or a diff. Takes a time in proportion to the
 * line.
 */
export function foldLine(line: string, width: number): string[] {
  const columns = Math.max(1, width);
  const rows: string[] = [];
  let row: Cell[] = [];
  let used = 0;
  // cells until the last space of the row
  let words = 0;
  for (const cell of cellsOf(line.replaceAll("\t", TAB), columns)) {
    if (used + cell.columns > columns) {
      const end = words > row.length / 2 ? words : row.length;
      rows.push(textOf(row.slice(0, end)));
      row = row.slice(end);
      used = row.reduce((sum, each) => sum + each.columns, 0);
      words = 0;
    }
    row.push(cell);
    used += cell.columns;
    words = cell.text === " " ? row.length : words;
  }
  return [...rows, textOf(row)];
}

/** Cuts a cleaned line, without styles, with `…` in the place of what is beyond `width` columns. */
export function cutLine(line: string, width: number): string {
  const kept: Cell[] = [];
  let used = 0;
  // text that a person reads has fewer characters to a column
  const begin = line.slice(0, MAX_TO_A_COLUMN * (width + 1));
  for (const cell of cellsOf(begin.replaceAll("\t", TAB), width)) {
    used += cell.columns;
    if (used > width) {
      while (used - cell.columns > width - 1) {
        used -= kept.pop()?.columns ?? used;
      }
      return `${textOf(kept).trimEnd()}…`;
    }
    kept.push(cell);
  }
  return begin === line ? textOf(kept) : `${textOf(kept.slice(0, -1))}…`;
}

interface Cell {
  readonly text: string;
  readonly columns: number;
}

function cellsOf(text: string, width: number): Cell[] {
  if (/^[\x20-\x7e]*$/.test(text)) {
    return text.split("").map((character) => ({ text: character, columns: 1 }));
  }
  return Array.from(getGraphemeSegmenter().segment(text), ({ segment }) => {
    const columns = visibleWidth(segment);
    return columns > width ? { text: "?", columns: 1 } : { text: segment, columns };
  });
}

function textOf(cells: readonly Cell[]): string {
  return cells.map(({ text }) => text).join("");
}
