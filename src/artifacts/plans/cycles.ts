/** An edge that closes a cycle: `edge` is its index among the successors of the path's last node. */
export interface Cycle {
  /** The nodes of the cycle in order, each once; the last one's edge leads back to the first. */
  readonly path: readonly number[];
  readonly edge: number;
}

export interface CycleSearch {
  readonly cycles: readonly Cycle[];
  /** The cycle after the last that `limits` allowed, if there is one. */
  readonly next: Cycle | null;
}

/**
 * Searches a graph depth-first from its first node on and returns one cycle for every edge that
 * leads back, in the order found, so that a graph without those edges has none. A graph has a
 * cycle exactly when one is found. `successors[n]` lists the nodes that n's edges lead to;
 * edges to the node itself and numbers without a node (-1) are skipped.
 *
 * Linear in nodes, edges and `limits`; no recursion.
 */
export function findCycles(
  successors: readonly (readonly number[])[],
  limits: { readonly cycles: number; readonly steps: number },
): CycleSearch {
  const cycles: Cycle[] = [];
  let steps = 0;
  for (const cycle of cyclesOf(successors)) {
    // the first one is reported however long it is
    const full = cycles.length > 0 && steps + cycle.path.length > limits.steps;
    if (full || cycles.length === limits.cycles) {
      return { cycles, next: cycle };
    }
    cycles.push(cycle);
    steps += cycle.path.length;
  }
  return { cycles, next: null };
}

function* cyclesOf(successors: readonly (readonly number[])[]): Generator<Cycle> {
  const visited = new Set<number>();
  for (const root of successors.keys()) {
    if (visited.has(root)) {
      continue;
    }
    visited.add(root);
    // The path from the root: each node with the index of the edge to follow next.
    const path = [{ node: root, edge: 0 }];
    const depths = new Map([[root, 0]]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const { node, edge } = top;
      const target = successors[node]?.[edge];
      top.edge += 1;
      if (target === undefined) {
        path.pop();
        depths.delete(node);
        continue;
      }
      const depth = depths.get(target);
      if (depth !== undefined && target !== node) {
        yield { path: path.slice(depth).map((step) => step.node), edge };
      } else if (!visited.has(target) && successors[target] !== undefined) {
        visited.add(target);
        depths.set(target, path.length);
        path.push({ node: target, edge: 0 });
      }
    }
  }
}
