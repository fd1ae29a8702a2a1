import { quote } from "./terminal-text.ts";

const MAX_LENGTH = 64;

/**
 * Returns a function that finds the known name most like a wrong one: at most a third of its
 * letters differ, and not all. Undefined when none is, when the name is longer than 64, or when
 * `effort` comparisons were made, which keeps a file of nothing but wrong names linear.
 */
export function createNearestName(
  known: Iterable<string>,
  effort = 100_000,
): (wrong: string) => string | undefined {
  const names = new Set(known);
  let left = effort;
  return (wrong) => {
    if (wrong.length > MAX_LENGTH || names.size > left) {
      return undefined;
    }
    left -= names.size;
    let nearest: string | undefined;
    let minDistance = Math.max(1, Math.floor(wrong.length / 3)) + 1;
    for (const name of names) {
      if (Math.abs(name.length - wrong.length) >= minDistance) {
        continue;
      }
      const distance = editDistance(wrong, name);
      // names of one letter are all near each other, and mean nothing by it
      const shared = distance < Math.max(wrong.length, name.length);
      if (shared && distance < minDistance) {
        [nearest, minDistance] = [name, distance];
      }
    }
    return nearest;
  };
}

/** Says what to do about a wrong name: take the nearest one, if there is one. */
export function adviceOf(
  suggestion: string | undefined,
  otherwise: string,
): { readonly advice: string; readonly suggestion?: string } {
  return suggestion === undefined
    ? { advice: otherwise }
    : { advice: `did you mean ${quote(suggestion)}?`, suggestion };
}

/** Letters to insert, delete, replace or swap with their neighbour to get from `a` to `b`. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) {
        cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    [before, above] = [above, current];
  }
  return above[b.length] ?? 0;
}
