/** What layering needs to know of a phase. */
export interface Dependent {
  readonly key: string;
  readonly depends_on?: readonly string[];
}

export interface Layers {
  /**
   * By position: how many phases the longest way to this one passes, so that a phase stands behind
   * everything it depends on.
   */
  readonly layerOf: readonly number[];
  /** By position: the positions of what it depends on, one for each entry. */
  readonly dependencies: readonly (readonly number[])[];
}

/**
 * Layers phases by their dependencies, linear in phases and dependencies and without recursion.
 * Null where keys are not unique, a dependency is unknown or leads round in a circle.
 */
export function layerPhases(phases: readonly Dependent[]): Layers | null {
  const positions = new Map(phases.map(({ key }, index) => [key, index]));
  if (positions.size < phases.length) return null;
  const dependencies = resolve(phases, positions);
  return dependencies === null ? null : layered(dependencies);
}

function resolve(
  phases: readonly Dependent[],
  positions: ReadonlyMap<string, number>,
): number[][] | null {
  const dependencies: number[][] = [];
  for (const { depends_on = [] } of phases) {
    const targets: number[] = [];
    for (const name of depends_on) {
      const target = positions.get(name);
      if (target === undefined) return null;
      targets.push(target);
    }
    dependencies.push(targets);
  }
  return dependencies;
}

/** Takes away what depends on nothing that is left, layer by layer; a circle is never taken. */
function layered(dependencies: readonly (readonly number[])[]): Layers | null {
  const { starts, dependents } = reversed(dependencies);
  const waitsFor = Uint32Array.from(dependencies, (targets) => targets.length);
  const layerOf = dependencies.map(() => 0);
  const ready: number[] = [];
  for (const [index, count] of waitsFor.entries()) if (count === 0) ready.push(index);
  // the array grows while it is walked
  for (const index of ready) {
    const next = (layerOf[index] ?? 0) + 1;
    const end = starts[index + 1] ?? 0;
    for (let at = starts[index] ?? 0; at < end; at += 1) {
      const dependent = dependents[at] ?? 0;
      layerOf[dependent] = Math.max(layerOf[dependent] ?? 0, next);
      const left = (waitsFor[dependent] ?? 0) - 1;
      waitsFor[dependent] = left;
      if (left === 0) ready.push(dependent);
    }
  }
  return ready.length === dependencies.length ? { layerOf, dependencies } : null;
}

/** Who depends on each: those of `index` stand from `starts[index]` to `starts[index + 1]`. */
function reversed(dependencies: readonly (readonly number[])[]): {
  starts: Uint32Array;
  dependents: Uint32Array;
} {
  const starts = new Uint32Array(dependencies.length + 1);
  for (const targets of dependencies) {
    for (const target of targets) starts[target + 1] = (starts[target + 1] ?? 0) + 1;
  }
  for (let at = 1; at < starts.length; at += 1) {
    starts[at] = (starts[at] ?? 0) + (starts[at - 1] ?? 0);
  }
  const free = starts.slice();
  const dependents = new Uint32Array(starts.at(-1) ?? 0);
  for (const [index, targets] of dependencies.entries()) {
    for (const target of targets) {
      const at = free[target] ?? 0;
      dependents[at] = index;
      free[target] = at + 1;
    }
  }
  return { starts, dependents };
}
