import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { explainPlan, validatePlan } from "../../../src/artifacts/plans/validate-plan.ts";
import { planSchema } from "../../helpers/artifacts/plans.ts";
import { testSize } from "../../helpers/size.ts";

const schema = planSchema();
const RUN_ID = "0b6f0c5e-3f4b-4d0e-9a55-0d2f6f1f6a01";
const known = {
  roles: new Set(["assistant", "reviewer"]),
  readers: new Set(["reviewer"]),
  schemas: new Set(["dev/spec@1"]),
};

/** Texts that a reader of places may take for something else. */
const text = fc.constantFrom(
  "plain",
  'with "quotes": and {braces}',
  "back\\slash\\",
  "line\r\nline",
  "π, 🦊",
  ": begins with a colon",
);
const path = fc.constantFrom("a.md", "A.md", "b/../a.md", "/etc/a", "~/a", ".git/config", "b.md");

const phase = (key: string, earlier: readonly string[]) =>
  fc.record(
    {
      key: fc.constant(key),
      title: text,
      role: fc.constantFrom("assistant", "reviewer", "asistant", "nobody"),
      instructions: text.map((one) => `${one}, ten characters`),
      depends_on: fc.array(fc.constantFrom(...earlier, ...earlier.slice(0, 1)), { maxLength: 4 }),
      expected_artifact: fc
        .record({ schema: fc.constantFrom("dev/spec@1", "dev/spce@1"), path })
        .map(({ schema, path }) => (path.length % 2 === 0 ? { schema, path } : { path, schema })),
    },
    { requiredKeys: ["key", "title", "role", "instructions"] },
  );

/** Valid plans of a few phases, their properties in any order, written in several ways. */
const plans = fc
  .integer({ min: 1, max: 6 })
  .chain((count) => {
    const keys = Array.from({ length: count }, (_, index) => `phase-${index}`);
    const phases = keys.map((key, index) =>
      index === 0
        ? phase(key, ["phase-0"]).map(({ depends_on: _, ...rest }) => rest)
        : phase(key, keys.slice(0, index)),
    );
    return fc.tuple(fc.tuple(...phases), fc.constantFrom(undefined, 2, "\t"), fc.array(fc.nat(5)));
  })
  .map(([phases, indent, order]) => {
    const shuffled = phases.map((one, index) => {
      const entries = Object.entries(one);
      const cut = (order[index] ?? 0) % entries.length;
      return Object.fromEntries([...entries.slice(cut), ...entries.slice(0, cut)]);
    });
    const members = { phases: shuffled, runId: RUN_ID, phaseKey: "planning" };
    const entries = Object.entries(members);
    const cut = order.length % entries.length;
    const plan = Object.fromEntries([...entries.slice(cut), ...entries.slice(0, cut)]);
    const json = JSON.stringify(plan, null, indent);
    return order.length % 2 === 0 ? json : json.replaceAll("\n", "\r\n");
  });

describe("reading a valid plan", () => {
  it("[PLAN-80] finds the same warnings at the same places as the reader of all positions", () => {
    let warned = 0;
    fc.assert(
      fc.property(plans, (json) => {
        const checks = { syntax: "json", schema, known } as const;
        const report = validatePlan(json, checks);
        expect(report.valid).toBe(true);
        expect(report).toEqual(explainPlan(json, checks));
        warned += report.findings.length > 0 ? 1 : 0;
      }),
      { numRuns: testSize("documents") },
    );
    expect(warned).toBeGreaterThan(testSize("documents") / 4);
  });

  it("[PLAN-80] takes little longer for one warning among 1,000 phases", () => {
    const least = (json: string): number => {
      const times = Array.from({ length: 25 }, () => {
        const begun = process.cpuUsage();
        validatePlan(json, { syntax: "json", schema, known });
        const { user, system } = process.cpuUsage(begun);
        return user + system;
      });
      return Math.min(...times);
    };
    const clean = manyPhases("phase-000000");
    const warned = manyPhases("phase-000001");
    expect(validatePlan(clean, { syntax: "json", schema, known }).findings).toEqual([]);
    expect(validatePlan(warned, { syntax: "json", schema, known }).findings).toHaveLength(1);
    // in turn, so that the code is compiled for both; a reader of all positions takes 9 times as long
    least(warned);
    expect(least(warned) / least(clean)).toBeLessThan(4);
  });
});

/** A plan whose last phase depends on the second one, and on another. */
function manyPhases(other: string): string {
  const key = (index: number): string => `phase-${String(index).padStart(6, "0")}`;
  const phases = Array.from({ length: 1000 }, (_, index) => ({
    key: key(index),
    title: `Phase number ${index}`,
    role: "assistant",
    instructions: `Implement part ${index} of the work as the design says.`,
    depends_on:
      index === 999
        ? [key(1), other]
        : Array.from({ length: Math.min(index, 5) }, (_, back) => key(index - 1 - back)),
  }));
  return JSON.stringify({ runId: RUN_ID, phaseKey: "planning", phases }, null, 2);
}
