import type { SourceNode } from "./source.ts";

/** A string of the plan with its offset in the text. */
export interface PlacedString {
  readonly text: string;
  readonly offset: number;
}

export interface OutlinedPhase {
  /** Null where the phase has no key that is a string. */
  readonly key: PlacedString | null;
  /** By position in `depends_on`; null where an entry is no string. */
  readonly dependsOn: readonly (PlacedString | null)[];
}

/**
 * What of a document has the shape of a phase plan, position by position, so that the plan's
 * graph can be checked while other things in it are still wrong. An entry of `phases` that is no
 * object is a phase without key and dependencies.
 */
export function outlinePlan(root: SourceNode): OutlinedPhase[] {
  return items(member(root, "phases")).map((phase) => ({
    key: string(member(phase, "key")),
    dependsOn: items(member(phase, "depends_on")).map(string),
  }));
}

function member(node: SourceNode, name: string): SourceNode | undefined {
  return node.kind === "object" ? node.members.get(name)?.value : undefined;
}

function items(node: SourceNode | undefined): readonly SourceNode[] {
  return node?.kind === "array" ? node.items : [];
}

function string(node: SourceNode | undefined): PlacedString | null {
  if (node?.kind !== "scalar" || typeof node.value !== "string") return null;
  return { text: node.value, offset: node.start };
}
