/** Rows of cells as lines, with columns as wide as their widest cell, up to `maxWidth`. */
export function aligned(
  rows: readonly (readonly string[])[],
  { among = rows, maxWidth = Infinity }: { among?: typeof rows; maxWidth?: number } = {},
): string[] {
  const widths: number[] = [];
  for (const cells of among) {
    for (const [column, { length }] of cells.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Math.min(length, maxWidth));
    }
  }
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
