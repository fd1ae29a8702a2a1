import { checkArtifact } from "./check-artifact.ts";
import type { ArtifactReport } from "./finding.ts";
import type { ArtifactText } from "./read-artifact.ts";
import { PHASE_PLAN, type SchemaRegistry } from "./registry.ts";
import { validatePlan } from "./validate-plan.ts";

/**
 * Validates an artifact against the schema with this id in a registry; a phase plan also as
 * `validatePlan` does, with the registry's ids as the known ones.
 *
 * Error codes: `schema_unknown`; of a project's schema `schema_invalid`, `schema_checks_busy`.
 */
export async function validateWith(
  artifact: ArtifactText,
  { id, registry }: { readonly id: string; readonly registry: SchemaRegistry },
): Promise<ArtifactReport> {
  if (id !== PHASE_PLAN) {
    return checkArtifact(artifact, { id, schema: await registry.schema(id) });
  }
  const { valid, findings } = validatePlan(artifact.text, {
    syntax: artifact.syntax,
    limits: artifact.limits,
    schema: await registry.phasePlan(),
    known: { schemas: registry.ids },
  });
  return { valid, findings };
}
