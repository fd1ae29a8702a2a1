import { isUuid } from "../core/ids.ts";
import {
  MAX_FINDINGS,
  positioned,
  toReport,
  type ArtifactReport,
  type OffsetFinding,
} from "./finding.ts";
import { createLineIndex } from "./line-index.ts";
import { readSource } from "./sources/read-source.ts";
import type { ArtifactSchema } from "./project/project-schema.ts";
import type { ArtifactText } from "./read-artifact.ts";
import { PHASE_PLAN, SPECIFICATION, type SchemaRegistry } from "./registry.ts";
import { withoutMark, type SourceNode } from "./sources/source.ts";
import { validatePlan } from "./plans/validate-plan.ts";

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

export interface CheckedArtifact extends ArtifactReport {
  /** The run's UUID, of a specification that has one. */
  readonly runId: string | null;
}

/**
 * Checks an artifact against its schema. If it was never published (null), only its syntax is
 * checked, and the warning `schema_unpublished` says so. A specification needs its
 * run's UUID in either case.
 *
 * Error codes, of a project's schema: `schema_invalid`, `schema_checks_busy`.
 */
export async function checkArtifact(
  { text: marked, syntax, limits }: ArtifactText,
  { id, schema }: { readonly id: string; readonly schema: ArtifactSchema | null },
): Promise<CheckedArtifact> {
  const text = withoutMark(marked);
  const lines = createLineIndex(text);
  const { root, findings } = readSource(text, { syntax, lines, limits });
  if (root === null) {
    return { ...toReport(findings), runId: null };
  }
  const problems =
    schema === null
      ? [positioned(unpublished(id, root), lines)]
      : await schema.check(root, lines, MAX_FINDINGS + 1);
  const all = [...findings, ...problems];
  const run = id === SPECIFICATION ? runIdOf(root) : null;
  if (typeof run === "string" || run === null) {
    return { ...toReport(all), runId: run };
  }
  if (!all.some(({ code, pointer }) => code === run.code && pointer === run.pointer)) {
    all.push(positioned(run, lines));
  }
  return { ...toReport(all), runId: null };
}

/** Returns the report on a text, neither JSON nor YAML, whose schema was never published. */
export function unpublishedText(id: string): ArtifactReport {
  const message = `the schema ${id} was never published, so nothing of the text is checked`;
  const place = { pointer: "", line: 1, column: 1 };
  return toReport([{ code: "schema_unpublished", severity: "warning", ...place, message }]);
}

function unpublished(id: string, { start: offset }: SourceNode): OffsetFinding {
  const checked = id === SPECIFICATION ? "its syntax and runId are" : "its syntax is";
  const message = `the schema ${id} was never published, so only ${checked} checked`;
  return { code: "schema_unpublished", severity: "warning", pointer: "", offset, message };
}

/** The run's UUID, or the finding that the specification has none. */
function runIdOf(root: SourceNode): string | OffsetFinding {
  const node = root.kind === "object" ? root.members.get("runId")?.value : undefined;
  if (node?.kind === "scalar" && typeof node.value === "string" && isUuid(node.value)) {
    return node.value;
  }
  const [code, pointer, message] =
    node === undefined
      ? (["missing_property", "", 'the specification lacks the property "runId"; add it'] as const)
      : (["format_mismatch", "/runId", "runId of the specification must be a UUID"] as const);
  return { code, severity: "error", pointer, offset: (node ?? root).start, message };
}
