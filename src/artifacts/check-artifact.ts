import {
  MAX_FINDINGS,
  toReport,
  type ArtifactReport,
  type Finding,
  type FindingCode,
} from "./finding.ts";
import { createLineIndex, type LineIndex } from "./line-index.ts";
import { readSource } from "./read-source.ts";
import type { ArtifactSchema } from "./project/project-schema.ts";
import type { ArtifactText } from "./read-artifact.ts";
import { SPECIFICATION } from "./registry.ts";
import { withoutMark, type SourceNode } from "./source.ts";
import { isUuid } from "./uuid.ts";

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
  const faults =
    schema === null
      ? [unpublished(id, root, lines)]
      : await schema.check(root, lines, MAX_FINDINGS + 1);
  const all = [...findings, ...faults];
  if (id !== SPECIFICATION) {
    return { ...toReport(all), runId: null };
  }
  const { runId, fault } = runIdOf(root, lines);
  const isTold = all.some(({ code, pointer }) => {
    return code === fault?.code && pointer === fault.pointer;
  });
  return { ...toReport(fault === null || isTold ? all : [...all, fault]), runId };
}

function unpublished(id: string, root: SourceNode, lines: LineIndex): Finding {
  const checked = id === SPECIFICATION ? "its runId is" : "that it can be read is";
  return {
    code: "schema_unpublished",
    severity: "warning",
    pointer: "",
    ...lines(root.start),
    message: `nobody published the fields of ${id}, so only ${checked} checked`,
  };
}

interface RunId {
  readonly runId: string | null;
  readonly fault: Finding | null;
}

function runIdOf(root: SourceNode, lines: LineIndex): RunId {
  const node = root.kind === "object" ? root.members.get("runId")?.value : undefined;
  if (node?.kind === "scalar" && typeof node.value === "string" && isUuid(node.value)) {
    return { runId: node.value, fault: null };
  }
  const fault = (code: FindingCode, pointer: string, message: string): RunId => {
    const place = lines((node ?? root).start);
    return { runId: null, fault: { code, severity: "error", pointer, ...place, message } };
  };
  return node === undefined
    ? fault("missing_property", "", 'the specification lacks the property "runId"; add it')
    : fault("format_mismatch", "/runId", "runId of the specification must be a UUID");
}
