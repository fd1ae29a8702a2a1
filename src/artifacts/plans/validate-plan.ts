import type { CompiledSchema } from "../compile-schema.ts";
import { MAX_FINDINGS, positioned, toReport, type ArtifactReport } from "../finding.ts";
import { createLineIndex } from "../line-index.ts";
import type { PhasePlan } from "./phase-plan.ts";
import { checkPlanGraph } from "./plan-graph.ts";
import { checkNames, type KnownNames } from "./plan-names.ts";
import { outlinePlan } from "./plan-outline.ts";
import { checkWarnings } from "./plan-warnings.ts";
import { isPhasePlan, readPlanFast } from "./fast-plan.ts";
import { readSource, type Syntax } from "../sources/read-source.ts";
import { FILE_LIMITS, toValue, withoutMark, type SizeLimits } from "../sources/source.ts";

export interface PlanReport extends ArtifactReport {
  /** Phases in the plan; 0 if there are none to count. */
  readonly phases: number;
  /** The plan, if it is valid. */
  readonly plan: PhasePlan | null;
}

export interface PlanChecks {
  readonly syntax: Syntax;
  /** The schema of `dev/phase-plan@1`. */
  readonly schema: CompiledSchema;
  readonly known?: KnownNames | undefined;
  /** Default: those for files. */
  readonly limits?: SizeLimits | undefined;
}

/** Validates the text of a phase plan: its syntax, its schema, its graph and names, all at once. */
export function validatePlan(text: string, checks: PlanChecks): PlanReport {
  const { syntax, schema, known = {}, limits = FILE_LIMITS } = checks;
  const maxValues = limits.values;
  const unmarked = withoutMark(text);
  const read = syntax === "json" ? readPlanFast(unmarked, { schema, known, maxValues }) : null;
  if (read === null) {
    return explainPlan(unmarked, checks);
  }
  const { plan, warnings } = read;
  return { ...toReport(warnings), phases: plan.phases.length, plan };
}

/** Checks a plan as `validatePlan`, but slower if it is valid: records all positions. */
export function explainPlan(text: string, checks: PlanChecks): PlanReport {
  const { syntax, schema, known = {}, limits } = checks;
  const lines = createLineIndex(text);
  const { root, findings } = readSource(text, { syntax, lines, limits });
  if (root === null) {
    return { ...toReport(findings), phases: 0, plan: null };
  }
  const outline = outlinePlan(root);
  // 1 more than is listed, so that cutting them off is noticed.
  const problems = schema.check(root, lines, MAX_FINDINGS + 1);
  const ofPlan = [
    ...checkPlanGraph(outline.phases, lines),
    ...checkWarnings(outline.phases),
    ...checkNames(outline, known),
  ].map((finding) => positioned(finding, lines));
  const report = toReport([...findings, ...problems, ...ofPlan]);
  const value = report.valid ? toValue(root) : null;
  const plan = isPhasePlan(value, schema) ? value : null;
  return { ...report, phases: outline.phases.length, plan };
}
