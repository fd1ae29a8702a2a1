import type { Phase } from "./phase-plan.ts";

/** Fields of a phase that layering reads. */
export type Dependent = Pick<Phase, "key" | "depends_on">;

/**
 * Numbers for each node of a graph, in one array: those of `node` are from `starts[node]` to
 * `starts[node + 1]`. A plan has hundreds of thousands of them; an array for each node would cost
 * more than all the rest.
 */
export interface Adjacency {
  readonly starts: Uint32Array;
  readonly targets: Uint32Array;
}

export interface Layers {
  /**
   * By position: how many phases the longest way to this one passes, so that a phase comes after
   * everything it depends on.
   */
  readonly layerOf: Uint32Array;
  /** By position: the positions of what it depends on, one for each entry. */
  readonly dependencies: Adjacency;
  /** By position: the positions of those that depend on it, ascending, one for each entry. */
  readonly dependents: Adjacency;
}

/**
 * Layers phases by their dependencies, linear in phases and dependencies and without recursion.
 * Null if keys are not unique, or a dependency is unknown or part of a cycle.
 */
export function layerPhases(phases: readonly Dependent[]): Layers | null {
  const positions = new Map(phases.map(({ key }, index) => [key, index]));
  const dependencies = positions.size < phases.length ? null : resolve(phases, positions);
  return dependencies === null ? null : layered(dependencies);
}

function resolve(
  phases: readonly Dependent[],
  positions: ReadonlyMap<string, number>,
): Adjacency | null {
  const count = phases.reduce((sum, { depends_on = [] }) => sum + depends_on.length, 0);
  const starts = new Uint32Array(phases.length + 1);
  const targets = new Uint32Array(count);
  let at = 0;
  for (const [index, { depends_on = [] }] of phases.entries()) {
    for (const name of depends_on) {
      const target = positions.get(name);
      if (target === undefined) {
        return null;
      }
      targets[at] = target;
      at += 1;
    }
    starts[index + 1] = at;
  }
  return { starts, targets };
}

/** Takes away what depends on nothing that is left, layer by layer; a cycle never is. */
function layered(dependencies: Adjacency): Layers | null {
  const { starts } = dependencies;
  const size = starts.length - 1;
  const dependents = reversed(dependencies);
  const layerOf = new Uint32Array(size);
  const waitsFor = new Uint32Array(size);
  const ready = new Uint32Array(size);
  let count = 0;
  for (let node = 0; node < size; node += 1) {
    waitsFor[node] = (starts[node + 1] ?? 0) - (starts[node] ?? 0);
    if (waitsFor[node] === 0) {
      ready[count++] = node;
    }
  }
  for (let next = 0; next < count; next += 1) {
    const node = ready[next] ?? 0;
    const layer = (layerOf[node] ?? 0) + 1;
    const end = dependents.starts[node + 1] ?? 0;
    for (let at = dependents.starts[node] ?? 0; at < end; at += 1) {
      const dependent = dependents.targets[at] ?? 0;
      layerOf[dependent] = Math.max(layerOf[dependent] ?? 0, layer);
      const left = (waitsFor[dependent] ?? 0) - 1;
      waitsFor[dependent] = left;
      if (left === 0) {
        ready[count++] = dependent;
      }
    }
  }
  return count === size ? { layerOf, dependencies, dependents } : null;
}

/** Returns the graph with its edges turned round. */
function reversed({ starts, targets }: Adjacency): Adjacency {
  const ends = new Uint32Array(starts.length);
  for (const target of targets) {
    ends[target + 1] = (ends[target + 1] ?? 0) + 1;
  }
  for (let at = 1; at < ends.length; at += 1) {
    ends[at] = (ends[at] ?? 0) + (ends[at - 1] ?? 0);
  }
  const free = ends.slice();
  const sources = new Uint32Array(targets.length);
  for (let node = 0; node + 1 < starts.length; node += 1) {
    const end = starts[node + 1] ?? 0;
    for (let at = starts[node] ?? 0; at < end; at += 1) {
      const target = targets[at] ?? 0;
      const slot = free[target] ?? 0;
      sources[slot] = node;
      free[target] = slot + 1;
    }
  }
  return { starts: ends, targets: sources };
}
