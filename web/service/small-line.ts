/** Distance from the edges, so that the line is not cut. */
const MARGIN = 2;

/**
 * Values from left to right as the path of a small line: from 0 at the bottom to the largest at the top. If a value
 * is null the line is broken. Empty without two values.
 */
export function pathOf(
  values: readonly (number | null)[],
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) {
    return "";
  }
  const most = Math.max(...known) || 1;
  const step = (width - 2 * MARGIN) / (values.length - 1);
  const steps = values.map((value, index) => {
    if (value === null) {
      return "";
    }
    const x = MARGIN + index * step;
    const y = height - MARGIN - (value / most) * (height - 2 * MARGIN);
    const before = values[index - 1] ?? null;
    return `${before === null ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
  });
  return steps.join("");
}
