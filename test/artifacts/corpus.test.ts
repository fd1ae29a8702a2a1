import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";

import { createLineIndex } from "../../src/artifacts/line-index.ts";
import { readSource } from "../../src/artifacts/read-source.ts";
import { locate } from "../../src/artifacts/source.ts";
import { explainPlan, validatePlan } from "../../src/artifacts/validate-plan.ts";
import { CORPUS, lineOf, readCorpus } from "../helpers/artifacts/corpus.ts";
import { KNOWN, planSchema } from "../helpers/artifacts/plans.ts";

const corpus = readCorpus();
const schema = planSchema();

describe("the corpus", () => {
  it("has at least 60 documents, each with its findings beside it", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(60);
    expect(readdirSync(CORPUS).length).toBeGreaterThanOrEqual(2 * corpus.length - 1);
    expect(corpus.filter(({ findings }) => findings.length === 0).length).toBeGreaterThan(30);
  });

  it.each(corpus)("[PLAN-2] [PLAN-3] $file", ({ text, syntax, findings }) => {
    const report = validatePlan(text, { syntax, schema, known: KNOWN });
    expect(report.findings.map(lineOf)).toEqual(findings);
    expect(report.valid).toBe(findings.every((line) => line.startsWith("warning ")));
    expect(report.plan === null).toBe(!report.valid);
  });

  it.each(corpus)("[PLAN-2] the quick way says the same of $file", ({ text, syntax }) => {
    const checks = { syntax, schema, known: KNOWN };
    expect(validatePlan(text, checks)).toEqual(explainPlan(text, checks));
  });

  it.each(corpus.filter(({ findings }) => findings.length > 0))(
    "[PLAN-3] each finding of $file stands where its pointer leads, in one sentence",
    ({ text, syntax }) => {
      const lines = createLineIndex(text);
      const { root } = readSource(text, { syntax, lines });
      for (const finding of validatePlan(text, { syntax, schema, known: KNOWN }).findings) {
        expect(finding.message).toMatch(/^[^\n\r]{10,400}$/);
        if (root === null) continue;
        const place = locate(root, finding.pointer)!;
        // of a property that stands twice the tree has the last one, and so has its name
        const offsets = [place.node.start, place.keyStart];
        expect(offsets.map(lines)).toContainEqual({ line: finding.line, column: finding.column });
      }
    },
  );
});
