import { readFileSync } from "node:fs";

import { packageFile } from "../core/package-file.ts";
import { compileSchema } from "./compile-schema.ts";
import type { KnownNames } from "./plan-names.ts";
import type { Syntax } from "./read-source.ts";
import { PHASE_PLAN } from "./registry.ts";
import { validatePlan, type PlanReport } from "./validate-plan.ts";

const file = packageFile("schemas/dev/phase-plan@1.json");

export interface PhasePlanOptions {
  /** How the text is written; JSON where it is not given. */
  readonly syntax?: Syntax | undefined;
  /** What the plan's names are compared with; what is not given is not checked. */
  readonly known?: KnownNames | undefined;
}

/**
 * Validates the text of a phase plan (`dev/phase-plan@1`): its syntax, its schema, its keys and
 * dependencies. Never throws for a text; `plan` of the report is typed where the plan is valid.
 */
export function validatePhasePlan(text: string, options: PhasePlanOptions = {}): PlanReport {
  return validatePlan(text, { syntax: options.syntax ?? "json", schema, known: options.known });
}

const schema = compilePhasePlan();

function compilePhasePlan() {
  return compileSchema({ id: PHASE_PLAN, schema: JSON.parse(readFileSync(file, "utf8")) });
}
