import { RepriseError } from "../core/errors.ts";
import { layerPhases } from "./layers.ts";
import type { Dependent, Layers } from "./layers.ts";

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
  const keys = phases.map(({ key }) => key);
  // ranks are compared much faster than keys
  const byRank = keys.toSorted();
  const rankOf = new Map(byRank.map((key, rank) => [key, rank]));
  const ranked = ranks(
    layers,
    keys.map((key) => rankOf.get(key) ?? 0),
  );
  const named = (rank: number): string => byRank[rank] ?? "";
  return {
    waves: wavesOf(ranked).map((wave) => wave.map(named)),
    longestChain: longestChain(ranked).map(named),
    edges: edgesOf(ranked).map(({ from, to }) => ({ from: named(from), to: named(to) })),
  };
}

interface RankedLayers {
  /** By rank of the phase's key; so are the entries of `dependencies`, ascending and each once. */
  readonly layerOf: readonly number[];
  readonly dependencies: readonly (readonly number[])[];
}

function ranks({ layerOf, dependencies }: Layers, rankAt: readonly number[]): RankedLayers {
  const layers: number[] = layerOf.map(() => 0);
  const targets: number[][] = layerOf.map(() => []);
  for (const [index, rank] of rankAt.entries()) {
    const ascending = (dependencies[index] ?? []).map((target) => rankAt[target] ?? 0);
    ascending.sort((a, b) => a - b);
    layers[rank] = layerOf[index] ?? 0;
    targets[rank] = ascending.filter((target, at) => target !== ascending[at - 1]);
  }
  return { layerOf: layers, dependencies: targets };
}

function wavesOf({ layerOf }: RankedLayers): number[][] {
  const waves: number[][] = [];
  for (const [rank, layer] of layerOf.entries()) (waves[layer] ??= []).push(rank);
  return waves;
}

function longestChain({ layerOf, dependencies }: RankedLayers): number[] {
  let layer = layerOf.reduce((most, each) => Math.max(most, each), 0);
  let link = layerOf.indexOf(layer);
  const chain: number[] = [];
  while (link !== -1) {
    chain.push(link);
    layer -= 1;
    link = dependencies[link]?.find((target) => layerOf[target] === layer) ?? -1;
  }
  return chain.reverse();
}

function edgesOf({ dependencies }: RankedLayers): { from: number; to: number }[] {
  const dependents: number[][] = dependencies.map(() => []);
  for (const [to, targets] of dependencies.entries()) {
    for (const from of targets) dependents[from]?.push(to);
  }
  return dependents.flatMap((targets, from) => targets.map((to) => ({ from, to })));
}
