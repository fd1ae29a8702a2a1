import type { Edge, PhaseGraph } from "../phase-graph.ts";

/** Steps that the search for implied edges may take; a graph beyond is drawn with all of them. */
const MAX_STEPS = 500_000_000;

/**
 * The edges that no others imply: without `a` to `c` if there are `a` to `b` and `b` to `c`. A
 * picture says the same with them, and crosses far fewer lines.
 */
export function withoutImplied({
  waves,
  edges,
}: Pick<PhaseGraph, "waves" | "edges">): readonly Edge[] {
  const keys = waves.flat();
  const words = Math.ceil(keys.length / 32);
  if (words * edges.length > MAX_STEPS) {
    return edges;
  }
  const numbers = new Map(keys.map((key, at) => [key, at]));
  const sourcesOf: number[][] = keys.map(() => []);
  for (const { from, to } of edges) {
    sourcesOf[numbers.get(to) ?? 0]?.push(numbers.get(from) ?? 0);
  }
  const above = ancestors(sourcesOf, words);
  return edges.filter(({ from, to }) => {
    const source = numbers.get(from) ?? 0;
    const others = sourcesOf[numbers.get(to) ?? 0] ?? [];
    return !others.some((other) => has(above[other], source));
  });
}

/** A set of bits for each node, in the order of waves: what it waits for, over others too. */
function ancestors(sourcesOf: readonly (readonly number[])[], words: number): Uint32Array[] {
  const above: Uint32Array[] = [];
  for (const sources of sourcesOf) {
    const bits = new Uint32Array(words);
    for (const source of sources) {
      for (const [word, value] of (above[source] ?? []).entries()) {
        bits[word] = (bits[word] ?? 0) | value;
      }
      bits[source >>> 5] = (bits[source >>> 5] ?? 0) | (1 << (source & 31));
    }
    above.push(bits);
  }
  return above;
}

function has(bits: Uint32Array | undefined, node: number): boolean {
  return (((bits?.[node >>> 5] ?? 0) >>> (node & 31)) & 1) === 1;
}
