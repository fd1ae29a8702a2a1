import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  explainPlan,
  validatePlan,
  type PlanReport,
} from "../../src/artifacts/plans/validate-plan.ts";
import { documents } from "../helpers/artifacts/documents.ts";
import { KNOWN, planSchema } from "../helpers/artifacts/plans.ts";
import { testSize } from "../helpers/size.ts";
import { anyText } from "../helpers/any-text.ts";

const schema = planSchema();

/** A JSON text, whole or with some of it cut out, doubled or replaced. */
const damaged = fc
  .tuple(
    fc.oneof(documents, fc.jsonValue()),
    fc.constantFrom(undefined, 2),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.nat(20),
        fc.oneof(
          fc.constantFrom("", '"', "\\", "{", "}", "[", "]", ":", ",", '"a":', "\u0000", "\ud800"),
          anyText({ maxLength: 4 }),
        ),
      ),
      { maxLength: 3 },
    ),
  )
  .map(([value, indent, cuts]) =>
    cuts.reduce(
      (text, [place, length, instead]) => {
        const at = place % (text.length + 1);
        return `${text.slice(0, at)}${instead}${text.slice(at + length)}`;
      },
      JSON.stringify(value, null, indent),
    ),
  );

/** What every report has to be, whatever the text. */
function expectSound(text: string, { valid, findings, plan }: PlanReport): void {
  const lines = text.split(/\r\n|\n|\r/);
  expect(valid).toBe(findings.every(({ severity }) => severity === "warning"));
  expect(plan === null).toBe(!valid);
  for (const { line, column, message, pointer } of findings) {
    expect(lines.length).toBeGreaterThanOrEqual(line);
    expect(column).toBeGreaterThanOrEqual(1);
    expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1);
    expect(message).toMatch(/^[^\p{Cc}]{10,}$/u);
    expect(pointer).toMatch(/^(\/|$)/);
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("damaged documents", () => {
  it("[PLAN-5] many texts of JSON, cut and damaged: a finding each, or a valid plan", () => {
    fc.assert(
      fc.property(damaged, (text) => {
        const checks = { syntax: "json", schema, known: KNOWN } as const;
        const report = validatePlan(text, checks);
        expectSound(text, report);
        const unreadable = report.findings.some(({ code }) => code === "malformed_json");
        expect(unreadable).toBe(!parses(text));
        // the fast and the explaining check agree
        expect(report).toEqual(explainPlan(text, checks));
      }),
      { numRuns: testSize("documents") },
    );
  });

  it("[PLAN-5] the same texts read as YAML: a finding each, or a valid plan", () => {
    fc.assert(
      fc.property(damaged, (text) => {
        expectSound(text, validatePlan(text, { syntax: "yaml", schema, known: KNOWN }));
      }),
      { numRuns: testSize("documents") },
    );
  });

  it("[PLAN-5] one long name in very many pointers is repeated a limited number of times", () => {
    const name = "n".repeat(1_000_000);
    const twice = '"a":1,'.repeat(1000);
    const { findings } = validatePlan(`{"${name}":{${twice}"a":1}}`, { syntax: "json", schema });
    expect(findings.at(-1)?.code).toBe("too_many_findings");
    expect(findings.length).toBeLessThan(20);
  });
});
