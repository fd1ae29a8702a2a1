import { visible } from "../../../core/text/terminal-text.ts";

/** Display columns of text, and cutting and wrapping by them. Rows may hold styles and links. */
export interface CellText {
  width(row: string): number;
  /** The row without what is beyond so many columns. */
  cut(row: string, columns: number): string;
  /** The row as rows of at most so many columns, broken at words if it can be. */
  wrap(row: string, columns: number): readonly string[];
}

/** SGR and OSC 8, the sequences that a row may hold. */
// oxlint-disable-next-line no-control-regex -- these are the sequences
const SEQUENCE = /(\u001b\[[\d;]*m|\u001b\]8;;[^\u0000-\u001f\u007f]*\u001b\\)/;

const LAST_SEQUENCE = new RegExp(`${SEQUENCE.source}$`);

/** Every second piece is a sequence. */
function pieces(row: string): readonly string[] {
  return row.includes("\u001b") ? row.split(SEQUENCE) : [row];
}

/** A row whose text can neither move the cursor nor change a mode of the terminal. */
export function plainRow(row: string): string {
  return pieces(row)
    .map((piece, index) => (index % 2 === 1 ? piece : visible(piece).replace(/[\n\t]/g, " ")))
    .join("");
}

/** A row without the spaces at its end, which not every terminal keeps; styles at its end are left out too. */
export function trimmedRow(row: string): string {
  let end = row;
  for (let last = ""; last !== end;) {
    last = end;
    end = end.trimEnd().replace(LAST_SEQUENCE, "");
  }
  return end;
}

/**
 * Counts each character as one column, which is right for most text and needs no library. A row of others is cut
 * too late, where the terminal cuts it.
 */
export const simpleText: CellText = {
  width: (row) =>
    pieces(row).reduce((sum, piece, index) => sum + (index % 2 === 1 ? 0 : piece.length), 0),
  cut: (row, columns) => {
    let left = columns;
    return pieces(row)
      .map((piece, index) => {
        if (index % 2 === 1) {
          return piece;
        }
        const taken = piece.slice(0, left);
        left -= taken.length;
        return taken;
      })
      .join("");
  },
  wrap: (row, columns) => {
    const rows: string[] = [];
    let line = "";
    for (const word of row.split(/(?<= )/)) {
      if (line !== "" && simpleText.width((line + word).trimEnd()) > columns) {
        rows.push(line.trimEnd());
        line = "";
      }
      line += word;
    }
    return [...rows, line];
  },
};
