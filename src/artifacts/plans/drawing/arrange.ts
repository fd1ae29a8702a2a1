import { GAP } from "./sizes.ts";

/** Something that is drawn in a column: a phase, or an edge that passes the column by. */
export interface Item {
  readonly height: number;
}

/** Items in columns from left to right; links lead from a column to the next one. */
export interface Columns {
  readonly columns: readonly (readonly number[])[];
  readonly items: readonly Item[];
  readonly links: readonly { readonly from: number; readonly to: number }[];
}

const SWEEPS = 8;

/**
 * Finds the centre of each item on the vertical axis, from 0, so that links cross and bend little:
 * within a column items are ordered by the mean centre of those they are linked to, and then moved
 * as near to it as the others let them. The same columns always give the same centres.
 */
export function arrange({ columns, items, links }: Columns): number[] {
  const before: number[][] = items.map(() => []);
  const after: number[][] = items.map(() => []);
  for (const { from, to } of links) {
    before[to]?.push(from);
    after[from]?.push(to);
  }
  const centres = items.map(() => 0);
  const ordered = columns.map((column) => [...column]);
  const heightOf = (item: number): number => items[item]?.height ?? 0;
  const setCentres = (column: readonly number[], targetOf: (item: number) => number): void => {
    for (const [index, centre] of stack(column, targetOf, heightOf).entries()) {
      centres[column[index] ?? 0] = centre;
    }
  };
  for (const column of ordered) {
    setCentres(column, () => 0);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const forth = sweep % 2 === 0;
    for (const column of forth ? ordered : ordered.toReversed()) {
      const targetFor = (item: number): number => {
        const near = (forth ? before[item] : after[item]) ?? [];
        return near.length === 0
          ? (centres[item] ?? 0)
          : mean(near.map((other) => centres[other] ?? 0));
      };
      const targets = new Map(column.map((item) => [item, targetFor(item)]));
      // the last sweeps keep the order, so that nothing jumps once it is near its target
      if (sweep < SWEEPS - 2) {
        column.sort((a, b) => (targets.get(a) ?? 0) - (targets.get(b) ?? 0));
      }
      setCentres(column, (item) => targets.get(item) ?? 0);
    }
  }
  const top = centres.reduce((min, centre, item) => Math.min(min, centre - heightOf(item) / 2), 0);
  return centres.map((centre) => centre - top);
}

/**
 * The centres of a column's items, as near to their targets as their order and heights allow:
 * neighbours that would overlap are pooled and share the mean of what they lack.
 */
function stack(
  column: readonly number[],
  targetOf: (item: number) => number,
  heightOf: (item: number) => number,
): number[] {
  const offsets: number[] = [];
  const pools: { sum: number; count: number }[] = [];
  for (const [index, item] of column.entries()) {
    const above = column[index - 1];
    const step = above === undefined ? 0 : (heightOf(above) + heightOf(item)) / 2 + GAP;
    offsets.push((offsets.at(-1) ?? 0) + step);
    let pool = { sum: targetOf(item) - (offsets[index] ?? 0), count: 1 };
    for (let last = pools.at(-1); last !== undefined; last = pools.at(-1)) {
      if (last.sum / last.count < pool.sum / pool.count) {
        break;
      }
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count };
      pools.pop();
    }
    pools.push(pool);
  }
  return pools
    .flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count))
    .map((start, index) => start + (offsets[index] ?? 0));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
