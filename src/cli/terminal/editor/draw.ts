import type { Theme } from "../text/theme.ts";
import type { Cell, Layout } from "./layout.ts";
import type { Spot } from "./moves.ts";

/** Columns of the prompt, and of what comes before further rows. */
export const PROMPT_WIDTH = 2;
const MIN_ROWS = 3;

/** Inverse video is not a colour: the cursor is visible in every theme. */
const INVERSE = "\u001b[7m";
const NOT_INVERSE = "\u001b[27m";

interface Drawing {
  readonly layout: Layout;
  readonly cursor: Spot;
  /** Columns of text. */
  readonly width: number;
  /** Rows of the terminal; a third of them is used. */
  readonly height: number;
  /** The first row that was shown before. */
  readonly top: number;
  readonly theme: Theme;
}

/** The rows around the cursor, with the prompt; `↑` and `↓` mark that there is more. */
export function drawDraft({ layout, cursor, width, height, top, theme }: Drawing): {
  readonly rows: readonly string[];
  readonly top: number;
} {
  const limit = Math.max(1, Math.min(height, Math.max(MIN_ROWS, Math.floor(height / 3))));
  const at = layout.rowOf(cursor);
  const last = Math.max(0, layout.rows.length - limit);
  const first = Math.min(Math.max(top, at - limit + 1, 0), at, last);
  const shown = layout.rows.slice(first, first + limit);
  const rows = shown.map((row, index) => {
    const n = first + index;
    const isMoreAbove = index === 0 && first > 0;
    const isMoreBelow = index === shown.length - 1 && n < layout.rows.length - 1;
    const sign = isMoreAbove ? "↑" : isMoreBelow ? "↓" : n === 0 ? ">" : " ";
    const before = sign === " " ? " " : sign === ">" ? theme.accent(sign) : theme.dim(sign);
    const column = n === at ? cursor.column : null;
    return `${before} ${drawRow(layout.cells(row), { width, column, theme })}`;
  });
  return { rows, top: first };
}

function drawRow(
  cells: readonly Cell[],
  given: { readonly width: number; readonly column: number | null; readonly theme: Theme },
): string {
  const { width, column, theme } = given;
  let [row, used, isDrawn] = ["", 0, column === null];
  for (const cell of cells) {
    if (used + cell.width > width) {
      break;
    }
    const shown = cell.isChip ? theme.accent(cell.shown) : cell.shown;
    const isAtCursor = !isDrawn && column !== null && cell.index >= column;
    row += isAtCursor ? `${INVERSE}${shown}${NOT_INVERSE}` : shown;
    isDrawn ||= isAtCursor;
    used += cell.width;
  }
  return isDrawn ? row : `${row}${INVERSE} ${NOT_INVERSE}`;
}
