import { visible } from "../../../core/text/terminal-text.ts";
import { getGraphemeSegmenter, visibleWidth } from "../pi/text.ts";
import { lineAt, type Move, type Spot } from "./moves.ts";

/** Part of a line that is one row of the terminal. */
export interface Row {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

export interface Layout {
  readonly rows: readonly Row[];
  /** The row of a spot. */
  rowOf(spot: Spot): number;
  /** Characters of a row as they are shown. */
  cells(row: Row): readonly Cell[];
  /** To the same column so many rows further down, or up if negative; null if there is no such row. */
  vertical(by: number): Move | null;
}

export interface Cell {
  /** Where in the line it begins. */
  readonly index: number;
  readonly shown: string;
  readonly width: number;
  readonly isSpace: boolean;
  readonly isChip: boolean;
}

export type LabelOf = (character: string) => string | null;

const TAB = "    ";
const PLAIN = /^[ -~]*$/;

/**
 * Where the characters of a draft are on a terminal: wrapped at words, or within words that are longer than a row.
 * Keeps the rows of lines that did not change, so that a key costs what its own line costs.
 */
export function createLayout(labelOf: LabelOf) {
  let kept = new Map<string, readonly Omit<Row, "line">[]>();
  let keptWidth = 0;
  /** The column that moves up and down return to after shorter rows. */
  let wanted: { readonly spot: Spot; readonly column: number } | null = null;

  return (lines: readonly string[], cursor: Spot, width: number): Layout => {
    const before = keptWidth === width ? kept : new Map<string, readonly Omit<Row, "line">[]>();
    const next: typeof kept = new Map();
    const rows = lines.flatMap((text, line) => {
      const wrapped = next.get(text) ?? before.get(text) ?? wrap(text, width, labelOf);
      next.set(text, wrapped);
      return wrapped.map((row) => ({ line, ...row }));
    });
    [kept, keptWidth] = [next, width];

    const rowOf = (spot: Spot): number => {
      const after = rows.findIndex(
        ({ line, start }) => line > spot.line || (line === spot.line && start > spot.column),
      );
      return (after < 0 ? rows.length : after) - 1;
    };
    const cells = ({ line, start, end }: Row): readonly Cell[] =>
      cellsOf(lineAt(lines, line).slice(start, end), start, { width, labelOf });
    return {
      rows,
      rowOf,
      cells,
      vertical: (by) => {
        const at = rowOf(cursor);
        const [from, to] = [rows[at], rows[at + by]];
        if (from === undefined || to === undefined) {
          return null;
        }
        const isSame = wanted?.spot.line === cursor.line && wanted.spot.column === cursor.column;
        const column = isSame ? (wanted?.column ?? 0) : columnOf(cells(from), cursor.column);
        const spot = { line: to.line, column: indexAt(cells(to), column, to, rows[at + by + 1]) };
        wanted = { spot, column };
        return () => spot;
      },
    };
  };
}

function wrap(text: string, width: number, labelOf: LabelOf): readonly Omit<Row, "line">[] {
  if (text.length <= width && PLAIN.test(text)) {
    return [{ start: 0, end: text.length }];
  }
  const rows: Omit<Row, "line">[] = [];
  let [start, used] = [0, 0];
  /** After the last space of the row, a break is possible there; and the columns before. */
  let space: { readonly index: number; readonly used: number } | null = null;
  const breakAt = (index: number, before: number): void => {
    rows.push({ start, end: index });
    [start, used, space] = [index, used - before, null];
  };
  for (const cell of cellsOf(text, 0, { width, labelOf })) {
    if (used + cell.width > width && used > 0) {
      if (cell.isSpace) {
        // at the end of a row it needs no column
        [used, space] = [width, { index: cell.index + 1, used: width }];
        continue;
      }
      breakAt(space?.index ?? cell.index, space?.used ?? used);
      if (used + cell.width > width && used > 0) {
        breakAt(cell.index, used);
      }
    }
    used += cell.width;
    if (cell.isSpace) {
      space = { index: cell.index + 1, used };
    }
  }
  return [...rows, { start, end: text.length }];
}

function cellsOf(
  text: string,
  start: number,
  { width, labelOf }: { readonly width: number; readonly labelOf: LabelOf },
): Cell[] {
  return Array.from(getGraphemeSegmenter().segment(text), ({ segment, index }) => {
    const label = labelOf(segment);
    const shown = segment === "\t" ? TAB : (label?.slice(0, width) ?? visible(segment));
    return {
      index: start + index,
      shown,
      width: visibleWidth(shown),
      isSpace: segment === " " || segment === "\t",
      isChip: label !== null,
    };
  });
}

/** Columns before the character at an index. */
function columnOf(cells: readonly Cell[], index: number): number {
  return cells.reduce((sum, cell) => (cell.index < index ? sum + cell.width : sum), 0);
}

/** The character at a column, or the end; a row that continues in another one ends before its last character. */
function indexAt(cells: readonly Cell[], column: number, row: Row, next: Row | undefined): number {
  let used = 0;
  for (const cell of cells) {
    used += cell.width;
    if (used > column) {
      return cell.index;
    }
  }
  return next?.line === row.line ? (cells.at(-1)?.index ?? row.start) : row.end;
}
