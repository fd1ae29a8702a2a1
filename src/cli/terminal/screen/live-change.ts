import { type CellText, trimmedRow } from "../pi/cell-text.ts";

const WRAP = "\u001b[?7h";
const NO_WRAP = "\u001b[?7l";

/** To the beginning of the first of so many live rows, with everything below erased. */
export function toFirstRow(rows: number): string {
  return rows === 0 ? "" : `\r${rows > 1 ? `\u001b[${rows - 1}A` : ""}\u001b[J`;
}

/**
 * From the old live rows to the new ones; the cursor ends in the last one. Without automatic wrapping, so that each
 * row is one of the terminal too, whatever its width is by now.
 */
export function liveChange(
  old: readonly string[],
  rows: readonly string[],
  text: CellText,
): string {
  let out = old.length === 0 ? "\r\u001b[J" : "";
  let at = Math.max(0, old.length - 1);
  const goTo = (row: number): void => {
    out += row < at ? `\u001b[${at - row}A` : "\r\n".repeat(row - at);
    at = row;
  };
  for (const [index, row] of rows.entries()) {
    if (row !== old[index]) {
      goTo(index);
      out += rowChange(old[index] ?? "", row, text);
    }
  }
  if (rows.length < old.length) {
    goTo(rows.length);
    out += "\r\u001b[J";
  }
  goTo(rows.length - 1);
  return out === "" ? "" : `${NO_WRAP}${out}${WRAP}`;
}

/** Characters that are one column wide everywhere. */
const PLAIN = /^[\u0020-\u007e]*/;

/** Writes what differs of a row. */
function rowChange(old: string, row: string, text: CellText): string {
  let same = 0;
  while (same < row.length && row[same] === old[same]) {
    same += 1;
  }
  const kept = Math.min(same, PLAIN.exec(row)?.[0].length ?? 0);
  const start = kept === 0 ? "\r" : `\u001b[${kept + 1}G`;
  const isShorter = text.width(row) < text.width(old);
  return `${start}${row.slice(kept)}${isShorter ? "\u001b[K" : ""}`;
}

/** Characters that are two columns wide in some terminals and one in others. */
const AMBIGUOUS =
  // oxlint-disable-next-line no-control-regex -- ASCII has controls
  /[^\u0000-\u00ff\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** How many rows of a terminal of this width such rows take at least, once it has wrapped them again. */
export function leastRows(rows: readonly string[], columns: number, text: CellText): number {
  const least = (row: string): number => {
    const shown = trimmedRow(row);
    const wide = (shown.match(AMBIGUOUS) ?? []).filter((char) => text.width(char) > 1).length;
    return Math.max(1, Math.ceil((text.width(shown) - wide) / columns));
  };
  return rows.reduce((sum, row) => sum + least(row), 0);
}
