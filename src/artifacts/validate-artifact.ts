import { checkArtifact } from "./check-artifact.ts";
import type { ArtifactReport } from "./finding.ts";
import type { ArtifactText } from "./read-artifact.ts";
import { PHASE_PLAN } from "./registry.ts";
import type { SchemaRegistry } from "./registry.ts";
import { validatePlan } from "./validate-plan.ts";

/**
 * Validates an artifact against the schema with this id; a phase plan also as `validatePlan` does,
 * with the registry's ids as the known ones.
 *
 * @throws RepriseError `schema_unknown`, `schema_invalid`.
 */
export async function validateArtifact(
  artifact: ArtifactText,
  { id, registry }: { readonly id: string; readonly registry: SchemaRegistry },
): Promise<ArtifactReport> {
  const schema = await registry.compiled(id);
  if (id === PHASE_PLAN && schema !== null) {
    return validatePlan(artifact.text, {
      syntax: artifact.syntax,
      limits: artifact.limits,
      schema,
      known: { schemas: registry.ids },
    });
  }
  return checkArtifact(artifact, { id, schema });
}
