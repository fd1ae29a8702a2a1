import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { findCycles } from "../../../src/artifacts/plans/cycles.ts";
import type { Finding } from "../../../src/artifacts/finding.ts";
import {
  explainPlan,
  validatePlan,
  type PlanReport,
} from "../../../src/artifacts/plans/validate-plan.ts";
import {
  acyclic,
  anyGraph,
  planText,
  shuffled,
  type Edges,
} from "../../helpers/artifacts/graphs.ts";
import { phase, planSchema } from "../../helpers/artifacts/plans.ts";

const schema = planSchema();

function validate(edges: Edges, order?: readonly number[]): PlanReport {
  return besidesRepeats(validatePlan(planText(edges, order), { syntax: "json", schema }));
}

/** Random graphs name a dependency twice now and then, which is a warning and no cycle. */
function besidesRepeats({ findings, ...report }: PlanReport): PlanReport {
  const others = findings.filter(({ code }) => code !== "duplicate_dependency");
  return { ...report, findings: others };
}

function codes(findings: readonly Finding[]): string[] {
  return findings.map(({ code }) => code);
}

describe("the plan's graph", () => {
  it("[PLAN-4] has no finding if it has no cycle", () => {
    fc.assert(
      fc.property(acyclic, ({ edges }) => {
        expect(validate(edges).findings).toEqual([]);
        const explained = explainPlan(planText(edges), { syntax: "json", schema });
        expect(besidesRepeats(explained).findings).toEqual([]);
      }),
    );
  });

  it("[PLAN-4] [PLAN-57] gives the same findings for every order of the phases", () => {
    const said = ({ findings }: PlanReport): string[] =>
      findings.map(({ code, message, path = [] }) => `${code} ${message} ${path.join()}`).sort();
    fc.assert(
      fc.property(shuffled(anyGraph), ({ graph, order }) => {
        expect(said(validate(graph, order))).toEqual(said(validate(graph)));
      }),
    );
  });

  it("[PLAN-4] gives a finding for an added edge that closes a cycle, with the cycle as its path", () => {
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

  it("[PLAN-4] has no cycle left once every reported dependency is removed", () => {
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

  it("[PLAN-4] names for each cycle the dependency that closes it", () => {
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

  it("is checked in everything that has the shape of a plan, whatever else is wrong", () => {
    const phases = [
      7,
      phase({ key: 1, depends_on: [true, "b"] }),
      phase({ key: "a", depends_on: ["b"] }),
    ];
    const { findings } = validatePlan(JSON.stringify({ phases }), { syntax: "json", schema });
    expect(codes(findings).filter((code) => code === "unknown_dependency")).toHaveLength(2);
  });

  it("shows the middle of a long cycle only in the path of its finding", () => {
    const [finding] = validate(Array.from({ length: 40 }, (_, node) => [(node + 1) % 40])).findings;
    expect(finding?.path).toHaveLength(41);
    expect(finding?.message).toContain('"p9" -> (29 more) -> "p39" -> "p0"');
  });

  it("[PLAN-5] may be a chain or a cycle of 50,000 phases", () => {
    const size = 50_000;
    const chain = Array.from({ length: size }, (_, node) => (node + 1 < size ? [node + 1] : []));
    expect(validate(chain)).toMatchObject({ valid: true, phases: size, findings: [] });
    chain[size - 1] = [0];
    expect(validate(chain).findings.map(({ path }) => path?.length)).toEqual([size + 1]);
  });

  it("[PLAN-5] [PLAN-59] reports a hundred cycles and that there are more", () => {
    const size = 300;
    const pairs = (count: number): number[][] =>
      Array.from({ length: size }, (_, node) => (node < 2 * count ? [node ^ 1] : []));
    expect(codes(validate(pairs(100)).findings)).toEqual(Array(100).fill("circular_dependency"));
    expect(codes(validate(pairs(101)).findings).sort()).toEqual([
      ...Array(100).fill("circular_dependency"),
      "more_cycles",
    ]);
  });

  it("[PLAN-5] [PLAN-59] gives at most ten thousand findings, and says that there are more", () => {
    const unknown = Array.from({ length: 10_001 }, (_, node) => node + 1);
    const all = validate([unknown.slice(1)]);
    expect(codes(all.findings)).toEqual(Array(10_000).fill("unknown_dependency"));
    const { findings } = validate([unknown]);
    expect(findings).toHaveLength(10_001);
    expect(findings.at(-1)?.code).toBe("too_many_findings");
  });
});

it("findCycles ignores edges to the node itself and to unknown nodes", () => {
  const limits = { cycles: 10, steps: 100 };
  expect(findCycles([[0, -1, 9], [1]], limits)).toEqual({ cycles: [], next: null });
});

it("findCycles reports at least one cycle, and no more than its limit of steps allows", () => {
  const pairs = [[1], [0], [3], [2], [5], [4]];
  const found = (steps: number): number => findCycles(pairs, { cycles: 10, steps }).cycles.length;
  expect([1, 2, 3, 4, 6].map(found)).toEqual([1, 1, 1, 2, 3]);
});
