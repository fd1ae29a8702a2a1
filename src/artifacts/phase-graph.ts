import { RepriseError } from "../core/errors.ts";
import { layerPhases } from "./layers.ts";
import type { Adjacency, Dependent, Layers } from "./layers.ts";

/** The order that a plan's dependencies leave; it does not depend on the order of its phases. */
export interface PhaseGraph {
  /**
   * Keys of the phases that can run side by side, wave after wave: each phase as early as its
   * dependencies let it, those of one wave sorted by key.
   */
  readonly waves: readonly (readonly string[])[];
  /**
   * The phases that need the most waves, each depends on the one before it. Of several chains of
   * one length it is the one whose keys come first, from its end on.
   */
  readonly longestChain: readonly string[];
  /** Each dependency once, by `from` and `to`: `from` must be finished before `to`. */
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

/**
 * The graph of a plan, in time that grows with its phases and dependencies.
 *
 * @throws RepriseError `plan_invalid` where keys are not unique, a dependency is unknown or leads
 * round in a circle; `validatePhasePlan` says which.
 */
export function phaseGraph({ phases }: { readonly phases: readonly Dependent[] }): PhaseGraph {
  const layers = layerPhases(phases);
  if (layers === null) {
    const message =
      "The phases cannot be put in an order: a key, a dependency or a circle is wrong; validate the plan to see which.";
    throw new RepriseError("plan_invalid", message);
  }
  const ranking = rank(phases);
  return {
    waves: wavesOf(ranking, layers),
    longestChain: longestChain(ranking, layers),
    edges: edgesOf(ranking, layers),
  };
}

/** Phases by their keys: numbers are compared much faster than keys. */
interface Ranking {
  /** The keys in order; a phase's rank is its place here. */
  readonly keys: readonly string[];
  /** The position in the plan by rank, and the rank by position. */
  readonly positions: Uint32Array;
  readonly ranks: Uint32Array;
}

function rank(phases: readonly Dependent[]): Ranking {
  const positionOf = new Map<string, number>();
  for (const [index, { key }] of phases.entries()) positionOf.set(key, index);
  const keys = phases.map(({ key }) => key).sort();
  const positions = Uint32Array.from(keys, (key) => positionOf.get(key) ?? 0);
  const ranks = new Uint32Array(keys.length);
  for (const [rank, position] of positions.entries()) ranks[position] = rank;
  return { keys, positions, ranks };
}

function wavesOf({ keys, positions }: Ranking, { layerOf }: Layers): string[][] {
  const waves: string[][] = [];
  for (const [rank, key] of keys.entries()) {
    (waves[layerOf[positions[rank] ?? 0] ?? 0] ??= []).push(key);
  }
  return waves;
}

function longestChain({ keys, positions, ranks }: Ranking, layers: Layers): string[] {
  const { layerOf, dependencies } = layers;
  const firstIn = (layer: number, among: Uint32Array): number | undefined => {
    let first: number | undefined;
    for (const position of among) {
      const rank = ranks[position] ?? 0;
      if (layerOf[position] === layer && (first === undefined || rank < first)) first = rank;
    }
    return first;
  };
  const chain: string[] = [];
  let layer = layerOf.reduce((most, each) => Math.max(most, each), 0);
  let link = firstIn(layer, positions);
  while (link !== undefined) {
    chain.push(keys[link] ?? "");
    layer -= 1;
    link = firstIn(layer, neighbours(dependencies, positions[link] ?? 0));
  }
  return chain.reverse();
}

function edgesOf({ keys, positions, ranks }: Ranking, { dependents }: Layers): Edge[] {
  const edges: Edge[] = [];
  for (const [rank, position] of positions.entries()) {
    const from = keys[rank] ?? "";
    const targets = neighbours(dependents, position).map((target) => ranks[target] ?? 0);
    let last = -1;
    for (const to of targets.sort()) {
      // one that is named twice stands here twice
      if (to !== last) edges.push({ from, to: keys[to] ?? "" });
      last = to;
    }
  }
  return edges;
}

type Edge = PhaseGraph["edges"][number];

function neighbours({ starts, targets }: Adjacency, node: number): Uint32Array {
  return targets.subarray(starts[node], starts[node + 1]);
}
