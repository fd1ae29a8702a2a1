import { byPlace } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { readJson } from "./json-source.ts";
import { createLineIndex } from "./line-index.ts";
import { checkPlanGraph } from "./plan-graph.ts";
import { outlinePlan } from "./plan-outline.ts";
import type { SchemaCheck } from "./schema-check.ts";
import { readYaml } from "./yaml-source.ts";

/** Findings of one plan, at most; `too_many_findings` then says that there are more. */
const MAX_FINDINGS = 10_000;

export interface PlanReport {
  /** Whether no finding is an error. */
  readonly valid: boolean;
  /** Phases in the plan; 0 where there are none to count. */
  readonly phases: number;
  /** All findings, in the order of their places in the text. */
  readonly findings: readonly Finding[];
}

/** Validates the text of a phase plan: its syntax, its schema and its graph, all at once. */
export function validatePlan(
  text: string,
  { syntax, schema }: { syntax: "json" | "yaml"; schema: SchemaCheck },
): PlanReport {
  const lines = createLineIndex(text);
  const { root, findings } = syntax === "yaml" ? readYaml(text, lines) : readJson(text, lines);
  if (root === null) return report(findings, 0);
  const phases = outlinePlan(root);
  // One more than is told, so that cutting them off is noticed.
  const faults = schema(root, lines, MAX_FINDINGS + 1);
  return report([...findings, ...faults, ...checkPlanGraph(phases, lines)], phases.length);
}

/** The report of a file that could not be validated, for the one reason given. */
export function failedReport(finding: Finding): PlanReport {
  return report([finding], 0);
}

function report(unordered: readonly Finding[], phases: number): PlanReport {
  const ordered = unordered.toSorted(byPlace);
  const valid = ordered.every(({ severity }) => severity !== "error");
  return { valid, phases, findings: atMost(ordered) };
}

function atMost(findings: readonly Finding[]): readonly Finding[] {
  const last = findings[MAX_FINDINGS - 1];
  if (last === undefined || findings.length === MAX_FINDINGS) return findings;
  const { line, column } = last;
  const message = `only the first ${MAX_FINDINGS.toLocaleString("en")} findings are listed; mend these and validate again`;
  return [
    ...findings.slice(0, MAX_FINDINGS),
    { code: "too_many_findings", severity: "error", pointer: "", line, column, message },
  ];
}
