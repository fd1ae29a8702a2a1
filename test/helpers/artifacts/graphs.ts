import * as fc from "fast-check";

import { phase, plan } from "./plans.ts";

/** `edges[n]` lists the numbers of the phases that phase `p<n>` depends on. */
export type Edges = readonly (readonly number[])[];

/** A plan's text with these edges; `order` is the order of its phases. */
export function planText(edges: Edges, order: readonly number[] = [...edges.keys()]): string {
  const phases = order.map((node) =>
    phase({ key: `p${node}`, depends_on: edges[node]!.map((target) => `p${target}`) }),
  );
  return JSON.stringify(plan({ phases }));
}

/** Random graphs without a cycle; in `order` each node comes after those it depends on. */
export const acyclic = fc
  .array(fc.array(fc.nat()), { minLength: 2, maxLength: 30 })
  .chain((wishes) =>
    fc.tuple(
      fc.constant(wishes),
      fc.shuffledSubarray([...wishes.keys()], { minLength: wishes.length }),
    ),
  )
  .map(([wishes, order]) => {
    const edges: number[][] = wishes.map(() => []);
    for (const [rank, node] of order.entries()) {
      // only what comes earlier in the order may be depended on
      if (rank > 0) {
        edges[node] = wishes[node]!.map((wish) => order[wish % rank]!);
      }
    }
    return { edges, order };
  });

/** Random graphs, mostly with cycles. */
export const anyGraph = fc
  .integer({ min: 1, max: 12 })
  .chain((size) => fc.array(fc.array(fc.nat(size - 1)), { minLength: size, maxLength: size }));

/** The nodes of a graph in another order. */
export function shuffled<Graph extends { readonly length: number }>(
  graphs: fc.Arbitrary<Graph>,
): fc.Arbitrary<{ graph: Graph; order: number[] }> {
  return graphs.chain((graph) => {
    const nodes = Array.from({ length: graph.length }, (_, node) => node);
    return fc
      .shuffledSubarray(nodes, { minLength: graph.length })
      .map((order) => ({ graph, order }));
  });
}
