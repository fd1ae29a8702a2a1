import { plainRow } from "../pi/cell-text.ts";
import { cellText } from "../pi/text.ts";

/** Functions with which a view on the alternate screen is drawn. */
export interface FullDrawing {
  /** Draws the rows that differ from those drawn before; rows that are missing are empty. */
  draw(rows: readonly string[], size: { readonly width: number; readonly height: number }): void;
  /** The screen may show something else by now: the next call draws every row. */
  forget(): void;
}

/** Synchronized output: a terminal that knows it shows the whole change at once. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

/**
 * Draws on the alternate screen, whose autowrap has to be off. A row is erased and written, never the whole screen.
 * `draw` writes one change to the terminal.
 */
export function createFullDrawing(draw: (text: string) => void): FullDrawing {
  let drawn: readonly string[] | null = null;
  let drawnWidth = 0;
  return {
    draw: (rows, { width, height }) => {
      const next = Array.from({ length: height }, (_, index) =>
        plainRow(cellText.cut(rows[index] ?? "", width)),
      );
      const before = drawnWidth === width && drawn?.length === height ? drawn : null;
      const changes = next.map((row, index) =>
        before?.[index] === row ? "" : `\u001b[${index + 1};1H\u001b[2K${row}`,
      );
      drawn = next;
      drawnWidth = width;
      const change = changes.join("");
      if (change !== "") {
        draw(`${BEGIN}${change}${END}`);
      }
    },
    forget: () => {
      drawn = null;
    },
  };
}
