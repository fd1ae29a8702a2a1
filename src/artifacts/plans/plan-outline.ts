import type { SourceNode } from "../sources/source.ts";

/** A string of the plan with its offset in the text. */
export interface PositionedString {
  readonly text: string;
  readonly offset: number;
}

export interface OutlinedPhase {
  /** Null if the phase has no key that is a string; the same of the others. */
  readonly key: PositionedString | null;
  readonly role: PositionedString | null;
  /** `expected_artifact.path` and `.schema`. */
  readonly artifactPath: PositionedString | null;
  readonly artifactSchema: PositionedString | null;
  /** By position in `depends_on`; null if an entry is not a string. */
  readonly dependsOn: readonly (PositionedString | null)[];
}

export interface PlanOutline {
  /** Null if there is none that is a string. */
  readonly runId: PositionedString | null;
  readonly phases: readonly OutlinedPhase[];
}

/**
 * Returns the parts of a document that have the shape of a phase plan, position by position, so that what the schema
 * cannot say can be checked while other things in it are still wrong. An entry of `phases` that is not an object is a
 * phase without key and dependencies.
 */
export function outlinePlan(root: SourceNode): PlanOutline {
  return {
    runId: string(member(root, "runId")),
    phases: items(member(root, "phases")).map((phase) => ({
      key: string(member(phase, "key")),
      role: string(member(phase, "role")),
      artifactPath: string(member(member(phase, "expected_artifact"), "path")),
      artifactSchema: string(member(member(phase, "expected_artifact"), "schema")),
      dependsOn: items(member(phase, "depends_on")).map(string),
    })),
  };
}

function member(node: SourceNode | undefined, name: string): SourceNode | undefined {
  return node?.kind === "object" ? node.members.get(name)?.value : undefined;
}

function items(node: SourceNode | undefined): readonly SourceNode[] {
  return node?.kind === "array" ? node.items : [];
}

function string(node: SourceNode | undefined): PositionedString | null {
  if (node?.kind !== "scalar" || typeof node.value !== "string") {
    return null;
  }
  return { text: node.value, offset: node.start };
}
