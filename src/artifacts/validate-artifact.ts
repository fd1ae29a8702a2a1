import type { ArtifactReport } from "./finding.ts";
import { createWorkerPool } from "./project/worker-pool.ts";
import type { Syntax } from "./sources/read-source.ts";
import { loadSchemas } from "./registry.ts";
import { validateWith } from "./check-artifact.ts";
import { readFileSync } from "node:fs";
import { packageFile } from "../core/package-file.ts";
import { compileSchema } from "./compile-schema.ts";
import type { KnownNames } from "./plans/plan-names.ts";
import { validatePlan, type PlanReport } from "./plans/validate-plan.ts";

export interface ArtifactOptions {
  /** The id of the schema, like `dev/spec@1`. */
  readonly schema: string;
  /** How the text is written; JSON if it is not given. */
  readonly syntax?: Syntax | undefined;
  /** A folder whose `.reprise/schemas/` are known too; none if it is not given. */
  readonly project?: string | undefined;
}

/**
 * Validates the text of an artifact against a schema that comes with Reprise or one of a project; a
 * phase plan as `validatePhasePlan` does. A project's schema is checked in a thread, which is
 * stopped after two seconds (finding `check_stopped`). Never throws for a text.
 *
 * Error codes: `schema_unknown`, `schema_invalid`, `file_unreadable` for the folder.
 */
export async function validateArtifact(
  text: string,
  { schema: id, syntax = "json", project }: ArtifactOptions,
): Promise<ArtifactReport> {
  const pool = createWorkerPool();
  try {
    const registry = await loadSchemas(project ?? null, pool);
    return await validateWith({ text, syntax }, { id, registry });
  } finally {
    await pool.close();
  }
}

export interface PhasePlanOptions {
  /** How the text is written; JSON by default. */
  readonly syntax?: Syntax | undefined;
  /** Names that those of the plan are compared with; what is not given is not checked. */
  readonly known?: KnownNames | undefined;
}

/**
 * Validates the text of a phase plan (`dev/phase-plan@1`): its syntax, its schema, its keys and
 * dependencies. Never throws for a text; `plan` of the report is typed if the plan is valid.
 */
export function validatePhasePlan(text: string, options: PhasePlanOptions = {}): PlanReport {
  return validatePlan(text, { syntax: options.syntax ?? "json", schema, known: options.known });
}

const file = packageFile("schemas/dev/phase-plan@1.json");
const schema = compileSchema(JSON.parse(readFileSync(file, "utf8")));
