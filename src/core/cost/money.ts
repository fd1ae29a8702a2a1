const MICROS = 1_000_000;
const CENT = 10_000;

/** An amount for a person, in dollars with two digits: `$0.12`, and `<$0.01` for less than a cent. */
function shownDollars(micros: number): string {
  return micros > 0 && micros < CENT ? "<$0.01" : `$${(micros / MICROS).toFixed(2)}`;
}

/** An amount with all its digits, two at least: `$0.0045`. */
export function exactDollars(micros: number): string {
  const digits = (micros / MICROS).toFixed(6);
  return `$${digits.replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}

/** An amount of dollars in whole micro-dollars. */
export function microsOf(dollars: number): number {
  return Math.round(dollars * MICROS);
}

export function dollarsOf(micros: number): number {
  return micros / MICROS;
}

/** A sum of which prices may be missing, for a person; null if none of them is known. */
export function shownCost({
  cost_micros,
  unpriced,
}: {
  readonly cost_micros: number | null;
  readonly unpriced: number;
}): string | null {
  if (cost_micros === null) {
    return null;
  }
  // "at least less than a cent" says nothing
  const isExact = unpriced > 0 && cost_micros < CENT;
  const shown = isExact ? exactDollars(cost_micros) : shownDollars(cost_micros);
  return unpriced > 0 ? `at least ${shown}` : shown;
}
