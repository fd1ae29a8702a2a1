import { RepriseError } from "../../core/errors.ts";
import { layerPhases, type Dependent, type Layers } from "./layers.ts";

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
 * Error codes: `plan_invalid` if keys are not unique, or a dependency is unknown or part
 * of a cycle; `validatePhasePlan` says which.
 */
export function phaseGraph({ phases }: { readonly phases: readonly Dependent[] }): PhaseGraph {
  // A phase's rank is its position by key: from here on ranks are compared, not keys.
  const keys = phases.map(({ key }) => key).sort();
  const byKey = new Map(phases.map((phase) => [phase.key, phase]));
  const layers = layerPhases(keys.map((key) => byKey.get(key) ?? { key }));
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

/** The graph with the phases of each wave in the order of the plan, for people who read it. */
export function inOrderOf(
  { phases }: { readonly phases: readonly Dependent[] },
  graph: PhaseGraph,
): PhaseGraph {
  const places = new Map(phases.map(({ key }, at) => [key, at]));
  const byPlace = (one: string, other: string): number =>
    (places.get(one) ?? 0) - (places.get(other) ?? 0);
  return { ...graph, waves: graph.waves.map((wave) => wave.toSorted(byPlace)) };
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
  const { starts, targets } = dependencies;
  let layer = layerOf.reduce((max, each) => Math.max(max, each), 0);
  for (let rank = layerOf.indexOf(layer); rank !== -1;) {
    chain.push(keys[rank] ?? "");
    layer -= 1;
    const ranks = targets.subarray(starts[rank], starts[rank + 1]).toSorted();
    rank = ranks.find((each) => layerOf[each] === layer) ?? -1;
  }
  return chain.reverse();
}

/** The dependents of each phase ascend already, so its edges are in their order. */
function edgesOf(keys: readonly string[], { dependents: { starts, targets } }: Layers): Edge[] {
  const edges: Edge[] = [];
  for (const [rank, from] of keys.entries()) {
    let last = -1;
    const end = starts[rank + 1] ?? 0;
    for (let at = starts[rank] ?? 0; at < end; at += 1) {
      const target = targets[at] ?? 0;
      // a phase that is named twice is here twice
      if (target !== last) {
        edges.push({ from, to: keys[target] ?? "" });
      }
      last = target;
    }
  }
  return edges;
}

/** A dependency, by the keys of two phases. */
export type Edge = PhaseGraph["edges"][number];
