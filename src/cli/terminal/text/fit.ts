import { cellText, sliceByColumn, visibleWidth } from "../pi/text.ts";

/** A row of at most so many columns; what is cut off becomes the ellipsis. Text without styles stays without. */
export function cut(row: string, columns: number, ellipsis = "…"): string {
  if (visibleWidth(row) <= columns) {
    return row;
  }
  const kept = Math.max(0, columns - visibleWidth(ellipsis));
  // a style must end before the ellipsis
  const start = row.includes("\u001b")
    ? cellText.cut(row, kept)
    : sliceByColumn(row, 0, kept, true);
  return `${start}${columns > 0 ? ellipsis : ""}`;
}

/** Text in a column: cut, or filled with spaces. */
export function cell(text: string, columns: number): string {
  const fitting = cut(text, columns);
  return `${fitting}${" ".repeat(Math.max(0, columns - visibleWidth(fitting)))}`;
}

/** The end of a text that is typed. */
export function endOf(text: string, columns: number): string {
  const width = visibleWidth(text);
  return width <= columns ? text : sliceByColumn(text, width - columns, columns, true);
}

/** Text at the left and at the right of a row; the left one is cut first. */
export function spread(left: string, right: string, columns: number): string {
  const free = columns - visibleWidth(right) - 1;
  if (free < 1) {
    return cut(right === "" ? left : right, columns);
  }
  const fitting = cut(left, free);
  return `${fitting}${" ".repeat(free + 1 - visibleWidth(fitting))}${right}`;
}
