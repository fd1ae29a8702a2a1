import type { PlanChecks } from "../../core/plan-runs.ts";
import { adviceOf, createNearestName } from "../../core/text/nearest-name.ts";
import { quote } from "../../core/text/terminal-text.ts";
import { type ArtifactReport, MAX_FINDINGS, positioned, toReport } from "../finding.ts";
import { createLineIndex } from "../line-index.ts";
import type { ArtifactSchema } from "../project/project-schema.ts";
import type { ArtifactText } from "../read-artifact.ts";
import { readSource } from "../sources/read-source.ts";
import { type SourceNode, toValue, withoutMark } from "../sources/source.ts";

export interface ChecksReport extends ArtifactReport {
  /** The checks, if they are valid. */
  readonly checks: PlanChecks | null;
}

/**
 * Validates the text of a plan's checks (`reprise/plan-checks@1`): its syntax, its schema, and that its phases are those
 * of the plan, whose keys are given; null if there is no plan to compare with.
 */
export async function validateChecks(
  { text: marked, syntax, limits }: ArtifactText,
  { schema, keys }: { readonly schema: ArtifactSchema; readonly keys: readonly string[] | null },
): Promise<ChecksReport> {
  const text = withoutMark(marked);
  const lines = createLineIndex(text);
  const { root, findings } = readSource(text, { syntax, lines, limits });
  if (root === null) {
    return { ...toReport(findings), checks: null };
  }
  const problems = await schema.check(root, lines, MAX_FINDINGS + 1);
  const unknown = keys === null ? [] : unknownPhases(root, keys);
  const report = toReport([
    ...findings,
    ...problems,
    ...unknown.map((finding) => positioned(finding, lines)),
  ]);
  return { ...report, checks: report.valid ? (toValue(root) as PlanChecks) : null };
}

function unknownPhases(root: SourceNode, keys: readonly string[]) {
  const phases = root.kind === "object" ? root.members.get("phases")?.value : undefined;
  const members = phases?.kind === "object" ? [...phases.members] : [];
  const known = new Set(keys);
  const nearest = createNearestName(known);
  return members
    .filter(([key]) => !known.has(key))
    .map(([key, { value }]) => {
      const otherwise = "name one of its phases, or remove this";
      const { advice, ...suggestion } = adviceOf(nearest(key), otherwise);
      const message = `the plan has no phase ${quote(key)}; ${advice}`;
      const pointer = `/phases/${key}`;
      const finding = { code: "unknown_phase", severity: "error", pointer } as const;
      return { ...finding, offset: value.start, message, ...suggestion };
    });
}
