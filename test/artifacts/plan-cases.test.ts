import { describe, expect, it } from "vitest";

import { createLineIndex } from "../../src/artifacts/line-index.ts";
import { readSource } from "../../src/artifacts/sources/read-source.ts";
import { findPosition } from "../../src/artifacts/sources/source.ts";
import { explainPlan, validatePlan } from "../../src/artifacts/plans/validate-plan.ts";
import { lineOf, readPlanCases } from "../helpers/artifacts/plan-cases.ts";
import { KNOWN, planSchema } from "../helpers/artifacts/plans.ts";

const cases = readPlanCases();
const schema = planSchema();

describe("the cases of test/fixtures/plans", () => {
  it("are many, with valid plans among them, and each has its own name", () => {
    expect(cases.length).toBeGreaterThanOrEqual(140);
    expect(cases.filter(({ findings }) => findings.length === 0).length).toBeGreaterThan(30);
    expect(new Set(cases.map(({ file }) => file)).size).toBe(cases.length);
  });

  it.each(cases)(
    "[PLAN-2] [PLAN-3] $file has exactly the findings of its case",
    ({ text, syntax, findings }) => {
      const report = validatePlan(text, { syntax, schema, known: KNOWN });
      expect(report.findings.map(lineOf)).toEqual(findings);
      expect(report.valid).toBe(findings.every((line) => line.startsWith("warning ")));
      expect(report.plan === null).toBe(!report.valid);
    },
  );

  it.each(cases)(
    "[PLAN-2] $file gets the same report from the fast and the explaining check",
    ({ text, syntax }) => {
      const checks = { syntax, schema, known: KNOWN };
      expect(validatePlan(text, checks)).toEqual(explainPlan(text, checks));
    },
  );

  it.each(cases.filter(({ findings }) => findings.length > 0))(
    "[PLAN-3] each finding of $file is one sentence and names the line of its pointer",
    ({ text, syntax }) => {
      const lines = createLineIndex(text);
      const { root } = readSource(text, { syntax, lines });
      for (const finding of validatePlan(text, { syntax, schema, known: KNOWN }).findings) {
        expect(finding.message).toMatch(/^[^\n\r]{10,400}$/);
        if (root === null) {
          continue;
        }
        const place = findPosition(root, finding.pointer)!;
        // the tree keeps the last of two properties with the same name
        const offsets = [place.value.start, place.keyStart];
        expect(offsets.map(lines)).toContainEqual({ line: finding.line, column: finding.column });
      }
    },
  );

  it.each(["json", "yaml"] as const)("[PLAN-5] refuses 10,000 levels of %s", (syntax) => {
    const text = "[".repeat(10_000) + "]".repeat(10_000);
    const { findings } = validatePlan(text, { syntax, schema, known: KNOWN });
    expect(findings.map(lineOf)).toEqual(["error too_deep 1:65"]);
  });
});
