import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { findCycles } from "../../src/artifacts/cycles.ts";
import type { Finding } from "../../src/artifacts/finding.ts";
import { explainPlan, validatePlan, type PlanReport } from "../../src/artifacts/validate-plan.ts";
import { acyclic, anyGraph, planText, shuffled, type Edges } from "../helpers/artifacts/graphs.ts";
import { phase, planSchema } from "../helpers/artifacts/plans.ts";

const schema = planSchema();

function validate(edges: Edges, order?: readonly number[]): PlanReport {
  return besidesRepeats(validatePlan(planText(edges, order), { syntax: "json", schema }));
}

/** Random graphs name a dependency twice now and then, which is a warning and no circle. */
function besidesRepeats({ findings, ...report }: PlanReport): PlanReport {
  const others = findings.filter(({ code }) => code !== "duplicate_dependency");
  return { ...report, findings: others };
}

function codes(findings: readonly Finding[]): string[] {
  return findings.map(({ code }) => code);
}

describe("the plan's graph", () => {
  it("[PLAN-4] has nothing to say of a graph without a cycle", () => {
    fc.assert(
      fc.property(acyclic, ({ edges }) => {
        expect(validate(edges).findings).toEqual([]);
        const explained = explainPlan(planText(edges), { syntax: "json", schema });
        expect(besidesRepeats(explained).findings).toEqual([]);
      }),
    );
  });

  it("[PLAN-4] [PLAN-57] finds the same, in whatever order the phases stand", () => {
    const said = ({ findings }: PlanReport): string[] =>
      findings.map(({ code, message, path = [] }) => `${code} ${message} ${path.join()}`).sort();
    fc.assert(
      fc.property(shuffled(anyGraph), ({ graph, order }) => {
        expect(said(validate(graph, order))).toEqual(said(validate(graph)));
      }),
    );
  });

  it("[PLAN-4] finds a planted edge back, with a real cycle as its path", () => {
    const planted = fc.tuple(acyclic, fc.nat(), fc.nat()).map(([{ edges, order }, a, b]) => {
      const late = 1 + (a % (order.length - 1));
      const early = b % late;
      const [from, to] = [order[early]!, order[late]!];
      // The way there exists already, the planted edge leads back.
      edges[to] = [...edges[to]!, from];
      edges[from] = [...edges[from]!, to];
      return edges;
    });
    fc.assert(
      fc.property(planted, (edges) => {
        const { valid, findings } = validate(edges);
        expect(valid).toBe(false);
        expect(new Set(codes(findings))).toEqual(new Set(["circular_dependency"]));
        for (const { path = [] } of findings) {
          const nodes = path.map((key) => Number(key.slice(1)));
          expect(nodes.length).toBeGreaterThan(2);
          expect(nodes.at(-1)).toBe(nodes[0]);
          expect(new Set(nodes).size).toBe(nodes.length - 1);
          for (const [index, to] of nodes.slice(1).entries()) {
            expect(edges[nodes[index]!]).toContain(to);
          }
        }
      }),
    );
  });

  it("[PLAN-4] has no cycle left once every dependency it names is removed", () => {
    fc.assert(
      fc.property(anyGraph, (edges) => {
        const closing = new Set(
          validate(edges)
            .findings.filter(
              ({ code }) => code === "circular_dependency" || code === "self_dependency",
            )
            .map(({ pointer }) => pointer),
        );
        const left = edges.map((to, from) =>
          to.filter((_, entry) => !closing.has(`/phases/${from}/depends_on/${entry}`)),
        );
        expect(validate(left).findings).toEqual([]);
      }),
    );
  });

  it("[PLAN-4] says of each circle where it closes", () => {
    expect(validate([[1], [2], [0], [3], [5], [4]]).findings).toMatchObject([
      {
        code: "circular_dependency",
        pointer: "/phases/2/depends_on/0",
        path: ["p0", "p1", "p2", "p0"],
      },
      { code: "self_dependency", pointer: "/phases/3/depends_on/0" },
      { code: "circular_dependency", pointer: "/phases/5/depends_on/0", path: ["p4", "p5", "p4"] },
    ]);
  });

  it("checks the graph of what has the shape of a plan while other things are wrong", () => {
    const phases = [
      7,
      phase({ key: 1, depends_on: [true, "b"] }),
      phase({ key: "a", depends_on: ["b"] }),
    ];
    const { findings } = validatePlan(JSON.stringify({ phases }), { syntax: "json", schema });
    expect(codes(findings).filter((code) => code === "unknown_dependency")).toHaveLength(2);
  });

  it("names the middle of a long circle only in its path", () => {
    const [finding] = validate(Array.from({ length: 40 }, (_, node) => [(node + 1) % 40])).findings;
    expect(finding?.path).toHaveLength(41);
    expect(finding?.message).toContain('"p9" -> (29 more) -> "p39" -> "p0"');
  });

  it("[PLAN-5] takes a chain and a circle of 50,000 phases", () => {
    const size = 50_000;
    const chain = Array.from({ length: size }, (_, node) => (node + 1 < size ? [node + 1] : []));
    expect(validate(chain)).toMatchObject({ valid: true, phases: size, findings: [] });
    chain[size - 1] = [0];
    expect(validate(chain).findings.map(({ path }) => path?.length)).toEqual([size + 1]);
  });

  it("[PLAN-5] [PLAN-59] tells a hundred circles and that there are more", () => {
    const size = 300;
    const pairs = (count: number): number[][] =>
      Array.from({ length: size }, (_, node) => (node < 2 * count ? [node ^ 1] : []));
    expect(codes(validate(pairs(100)).findings)).toEqual(Array(100).fill("circular_dependency"));
    expect(codes(validate(pairs(101)).findings).sort()).toEqual([
      ...Array(100).fill("circular_dependency"),
      "more_cycles",
    ]);
  });

  it("[PLAN-5] [PLAN-59] lists ten thousand findings and says that there are more", () => {
    const unknown = Array.from({ length: 10_001 }, (_, node) => node + 1);
    const all = validate([unknown.slice(1)]);
    expect(codes(all.findings)).toEqual(Array(10_000).fill("unknown_dependency"));
    const { findings } = validate([unknown]);
    expect(findings).toHaveLength(10_001);
    expect(findings.at(-1)?.code).toBe("too_many_findings");
  });
});

it("findCycles passes over edges to the node itself and to nothing", () => {
  const limits = { cycles: 10, steps: 100 };
  expect(findCycles([[0, -1, 9], [1]], limits)).toEqual({ cycles: [], next: null });
});

it("findCycles tells one cycle at least, and no more than the steps allow", () => {
  const pairs = [[1], [0], [3], [2], [5], [4]];
  const found = (steps: number): number => findCycles(pairs, { cycles: 10, steps }).cycles.length;
  expect([1, 2, 3, 4, 6].map(found)).toEqual([1, 1, 1, 2, 3]);
});
