import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

import { type PhasePlan, phaseGraph, validatePhasePlan } from "../../src/index.ts";
import { SCHEMA_FILE, TYPES_FILE, typesOf } from "../helpers/artifacts/plan-types.ts";
import { plan } from "../helpers/artifacts/plans.ts";

it("[PLAN-21] the types of a plan match its schema", () => {
  const schema = JSON.parse(readFileSync(SCHEMA_FILE, "utf8"));
  expect(readFileSync(TYPES_FILE, "utf8")).toBe(typesOf(schema));
});

it("[PLAN-21] the generator refuses a schema that it cannot express", () => {
  const open = { $id: "x", title: "X", type: "object", properties: { a: { type: "object" } } };
  expect(() => typesOf(open as unknown as Parameters<typeof typesOf>[0])).toThrow(TypeError);
});

it("[PLAN-21] the package validates a text, types the plan and puts its phases into waves", () => {
  const report = validatePhasePlan(JSON.stringify(plan({ estimated_duration_hours: 2 })));
  expect(report).toMatchObject({ valid: true, phases: 1, findings: [] });
  const valid: PhasePlan = report.plan!;
  expect(valid.estimated_duration_hours).toBe(2);
  expect(phaseGraph(valid)).toEqual({ waves: [["build"]], longestChain: ["build"], edges: [] });
});

it("[PLAN-21] gives no plan for an invalid text, and compares names only with the given ones", () => {
  expect(validatePhasePlan("{")).toMatchObject({ valid: false, plan: null });
  const known = { roles: new Set<string>(), runId: "00000000-0000-0000-0000-000000000000" };
  const { findings } = validatePhasePlan(JSON.stringify(plan()), { known });
  expect(findings.map(({ code }) => code)).toEqual(["run_id_mismatch", "unknown_role"]);
  expect(validatePhasePlan("runId: 1", { syntax: "yaml" }).findings[0]?.line).toBe(1);
});

it("[PLAN-21] refuses to put phases into waves if they depend on each other in a cycle", () => {
  for (const phases of [
    [{ key: "a", depends_on: ["b"] }],
    [{ key: "a" }, { key: "a" }],
    [{ key: "a", depends_on: ["a"] }],
    [
      { key: "a", depends_on: ["b"] },
      { key: "b", depends_on: ["a"] },
    ],
  ]) {
    expect(() => phaseGraph({ phases })).toThrow(expect.objectContaining({ code: "plan_invalid" }));
  }
});
