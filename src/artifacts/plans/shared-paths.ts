import type { Layers } from "./layers.ts";

/** Two phases with one path of which neither waits for the other, by their positions. */
export interface SharedPath {
  readonly phase: number;
  readonly other: number;
}

/** Dependencies that are followed at most: a plan may have millions on ways that lead nowhere. */
const MAX_STEPS = 5_000_000;

/**
 * The phases whose path another one has that can run side by side with them; `paths` by position,
 * null for none. In a group with one path each phase is compared with the one before it: if each
 * waits for that one, all of them run one after the other. Beyond `MAX_STEPS` nothing more is found.
 */
export function sharedPaths(paths: readonly (string | null)[], layers: Layers): SharedPath[] {
  const { layerOf } = layers;
  const left = { steps: MAX_STEPS };
  const found: SharedPath[] = [];
  for (const group of groups(paths)) {
    const ordered = group.sort((a, b) => (layerOf[a] ?? 0) - (layerOf[b] ?? 0) || a - b);
    for (const [index, phase] of ordered.entries()) {
      const other = ordered[index - 1];
      if (other === undefined || waits({ phase, other, layers, left })) {
        continue;
      }
      if (left.steps < 0) {
        return found;
      }
      found.push({ phase, other });
    }
  }
  return found;
}

function groups(paths: readonly (string | null)[]): number[][] {
  const byPath = Map.groupBy(paths.keys(), (index) => paths[index] ?? null);
  byPath.delete(null);
  return [...byPath.values()].filter((group) => group.length > 1);
}

interface Pair extends SharedPath {
  readonly layers: Layers;
  readonly left: { steps: number };
}

/** Whether one phase depends on another, over others too. */
function waits({ phase, other, layers: { layerOf, dependencies }, left }: Pair): boolean {
  const { starts, targets } = dependencies;
  const first = layerOf[other] ?? 0;
  const seen = new Set([phase]);
  for (const next of seen) {
    for (const target of targets.subarray(starts[next], starts[next + 1])) {
      left.steps -= 1;
      if (target === other) {
        return true;
      }
      if (left.steps < 0) {
        return false;
      }
      if ((layerOf[target] ?? 0) > first) {
        seen.add(target);
      }
    }
  }
  return false;
}
