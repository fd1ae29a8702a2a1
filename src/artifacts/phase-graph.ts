import { RepriseError } from "../core/errors.ts";
import { layerPositioned, type Dependent, type Layers } from "./layers.ts";

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
 * @throws RepriseError `plan_invalid` if keys are not unique, or a dependency is unknown or part
 * of a cycle; `validatePhasePlan` says which.
 */
export function phaseGraph({ phases }: { readonly phases: readonly Dependent[] }): PhaseGraph {
  const keys = phases.map(({ key }) => key).sort();
  const layers = layerByRank(phases, keys);
  if (layers === null) {
    const message =
      "The phases cannot be put in an order: a key or a dependency is wrong, or there is a cycle; validate the plan to see which.";
    throw new RepriseError("plan_invalid", message);
  }
  return {
    waves: wavesOf(keys, layers),
    longestChain: longestChain(keys, layers),
    edges: edgesOf(keys, layers),
  };
}

/**
 * The layers of the phases in the order of their keys. A phase's place in it is its rank: from here
 * on nothing is compared but numbers, which is much faster than keys.
 */
function layerByRank(phases: readonly Dependent[], keys: readonly string[]): Layers | null {
  const ranks = new Map<string, number>();
  for (const [rank, key] of keys.entries()) {
    ranks.set(key, rank);
  }
  if (ranks.size < phases.length) {
    return null;
  }
  const ranked = phases.slice();
  for (const phase of phases) {
    ranked[ranks.get(phase.key) ?? 0] = phase;
  }
  return layerPositioned(ranked, ranks);
}

function wavesOf(keys: readonly string[], { layerOf }: Layers): string[][] {
  const waves: string[][] = [];
  for (const [rank, key] of keys.entries()) {
    (waves[layerOf[rank] ?? 0] ??= []).push(key);
  }
  return waves;
}

function longestChain(keys: readonly string[], { layerOf, dependencies }: Layers): string[] {
  const chain: string[] = [];
  let layer = layerOf.reduce((max, each) => Math.max(max, each), 0);
  let link = layerOf.indexOf(layer);
  while (link !== -1) {
    chain.push(keys[link] ?? "");
    layer -= 1;
    const { starts, targets } = dependencies;
    link = firstIn(layer, targets.subarray(starts[link], starts[link + 1]), layerOf);
  }
  return chain.reverse();
}

/** The least of some ranks in a layer; -1 if there is none. */
function firstIn(layer: number, among: Uint32Array, layerOf: Uint32Array): number {
  let first = -1;
  for (const rank of among) {
    if (layerOf[rank] === layer && (first === -1 || rank < first)) {
      first = rank;
    }
  }
  return first;
}

/** The dependents of each phase ascend already, so its edges are in their order. */
function edgesOf(keys: readonly string[], { dependents: { starts, targets } }: Layers): Edge[] {
  const edges: Edge[] = [];
  for (const [rank, from] of keys.entries()) {
    let last = -1;
    const end = starts[rank + 1] ?? 0;
    for (let at = starts[rank] ?? 0; at < end; at += 1) {
      const target = targets[at] ?? 0;
      // one that is named twice is here twice
      if (target !== last) {
        edges.push({ from, to: keys[target] ?? "" });
      }
      last = target;
    }
  }
  return edges;
}

type Edge = PhaseGraph["edges"][number];
