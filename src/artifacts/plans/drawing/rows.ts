import { COLUMN_GAP } from "./sizes.ts";

/** A column of a picture, before it is laid out. */
export interface ColumnSize {
  readonly width: number;
  readonly height: number;
}

/** Width over height, at most; a little less than the picture's, as lines between rows take space. */
const MAX_ASPECT = 2.6;

/**
 * Splits columns into as few rows as make a picture at most about three times as wide as high.
 * Returns the number of columns in each row. `rowGap` is between two rows.
 */
export function splitRows(columns: readonly ColumnSize[], rowGap: number): number[] {
  const total = widthOf(columns);
  for (let rows = 1; rows < columns.length; rows += 1) {
    const counts = split(columns, total / rows);
    if (aspectOf(columns, counts, rowGap) <= MAX_ASPECT) {
      return counts;
    }
  }
  return columns.map(() => 1);
}

function widthOf(columns: readonly ColumnSize[]): number {
  return columns.reduce((sum, { width }) => sum + width + COLUMN_GAP, 0);
}

/** Fills rows one after the other, each up to the width that all would have. */
function split(columns: readonly ColumnSize[], maxWidth: number): number[] {
  const counts: number[] = [];
  let left = 0;
  for (const { width } of columns) {
    const last = counts.length - 1;
    // half a column beyond is nearer than half a column short
    if (last < 0 || left < width / 2) {
      counts.push(1);
      left = maxWidth - width - COLUMN_GAP;
    } else {
      counts[last] = (counts[last] ?? 0) + 1;
      left -= width + COLUMN_GAP;
    }
  }
  return counts;
}

function aspectOf(
  columns: readonly ColumnSize[],
  counts: readonly number[],
  rowGap: number,
): number {
  let at = 0;
  let width = 0;
  let height = 0;
  for (const count of counts) {
    const row = columns.slice(at, (at += count));
    width = Math.max(width, widthOf(row) - COLUMN_GAP);
    height += row.reduce((max, column) => Math.max(max, column.height), 0) + rowGap;
  }
  return width / height;
}
