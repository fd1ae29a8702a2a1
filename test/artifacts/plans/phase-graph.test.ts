import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { phaseGraph, type PhaseGraph } from "../../../src/artifacts/plans/phase-graph.ts";
import { acyclic, type Edges } from "../../helpers/artifacts/graphs.ts";

function graphOf(edges: Edges, order: readonly number[] = [...edges.keys()]): PhaseGraph {
  return phaseGraph({
    phases: order.map((node) => ({
      key: `p${node}`,
      depends_on: edges[node]!.map((target) => `p${target}`),
    })),
  });
}

function waveOf({ waves }: PhaseGraph): Map<string, number> {
  return new Map(waves.flatMap((wave, index) => wave.map((key) => [key, index])));
}

describe("the waves of a plan", () => {
  it("[PLAN-6] hold every phase once, after all that it depends on and no later than needed", () => {
    fc.assert(
      fc.property(acyclic, ({ edges }) => {
        const graph = graphOf(edges);
        const wave = waveOf(graph);
        expect(graph.waves.flat()).toHaveLength(edges.length);
        expect(wave.size).toBe(edges.length);
        for (const [node, targets] of edges.entries()) {
          const before = targets.map((target) => wave.get(`p${target}`)!);
          expect(wave.get(`p${node}`)).toBe(Math.max(-1, ...before) + 1);
        }
      }),
    );
  });

  it("[PLAN-6] do not depend on the order of the phases, and neither does the rest", () => {
    const reordered = acyclic.chain(({ edges, order }) =>
      fc.shuffledSubarray(order, { minLength: order.length }).map((other) => ({ edges, other })),
    );
    fc.assert(
      fc.property(reordered, ({ edges, other }) => {
        expect(graphOf(edges, other)).toEqual(graphOf(edges));
      }),
    );
  });
});

describe("the longest chain of a plan", () => {
  it("[PLAN-6] [PLAN-60] is a chain of dependencies with one phase for each wave", () => {
    fc.assert(
      fc.property(acyclic, ({ edges }) => {
        const { longestChain, waves } = graphOf(edges);
        expect(longestChain).toHaveLength(waves.length);
        for (const [index, key] of longestChain.slice(1).entries()) {
          const before = Number(longestChain[index]!.slice(1));
          expect(edges[Number(key.slice(1))]).toContain(before);
        }
      }),
    );
  });
});

it("[PLAN-6] each dependency is one edge", () => {
  expect(graphOf([[1, 1, 2], [2], []]).edges).toEqual([
    { from: "p1", to: "p0" },
    { from: "p2", to: "p0" },
    { from: "p2", to: "p1" },
  ]);
});

it("[PLAN-6] a plan without phases has no wave", () => {
  expect(graphOf([])).toEqual({ waves: [], longestChain: [], edges: [] });
});

it("[PLAN-6] [PLAN-61] a chain of 100,000 phases does not overflow the stack", () => {
  const chain = Array.from({ length: 100_000 }, (_, node) => (node > 0 ? [node - 1] : []));
  const { waves, longestChain } = graphOf(chain);
  expect([waves.length, longestChain.length, longestChain.at(-1)]).toEqual([
    100_000,
    100_000,
    "p99999",
  ]);
});
