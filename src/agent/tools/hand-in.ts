import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";

import {
  type ArtifactPlace,
  checkContent,
  type ExpectedArtifact,
} from "../../plans/artifact-file.ts";
import { HAND_IN } from "../../rules/tools/built-in.ts";
import { keepArtifact } from "../../store/records/plans/attempt.ts";
import type { Fence } from "../../store/records/leases/fence.ts";
import type { Store } from "../../store/store.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import type { KeepChanges } from "../../workspace/undo/keeper.ts";
import { hashOf } from "../../workspace/undo/kept-bytes.ts";
import { findingLines } from "./finding-lines.ts";
import { createQueue, reportFailure } from "./tool-result.ts";
import { replaceFile } from "./write-file.ts";

/** Characters of an artifact. */
const MAX_CONTENT = 1_000_000;

export interface HandIn {
  readonly artifact: ExpectedArtifact;
  readonly place: ArtifactPlace;
  /** Makes the change of the file. */
  readonly keep: KeepChanges;
  readonly store: Pick<Store, "write">;
  /** Lease of the sub-agent. */
  readonly fence: Fence;
}

/**
 * With this tool the sub-agent of a phase hands in the phase's artifact: it gets what is wrong with it, each with its place, or
 * the file in which it was stored. Content that is there already is not written again, so a call may run twice.
 */
export function handInTool(given: HandIn): StructuredToolInterface {
  const { path, schema } = given.artifact;
  const inOrder = createQueue();
  return tool(
    reportFailure(({ content }: { readonly content: string }, { toolCall }) =>
      inOrder(() => handIn(given, { content, call_id: toolCall?.id ?? "" })),
    ),
    {
      name: HAND_IN.name,
      description: `Hand in the artifact of this phase, the whole content of ${path}, of the schema ${schema}. It is checked: you get what is wrong with it, or the file in which it was stored. Hand it in again to replace it.`,
      schema: z.object({
        content: z.string().min(1).max(MAX_CONTENT).describe("the whole content of the file"),
      }),
    },
  );
}

async function handIn(
  { artifact, place, keep, store, fence }: HandIn,
  { content, call_id }: { readonly content: string; readonly call_id: string },
): Promise<string> {
  const target = await place.resolve(artifact.path);
  const { valid, findings } = await checkContent(artifact, content, target.root);
  const found = findingLines(findings);
  if (!valid) {
    const wrong = "the artifact is not valid and was not stored. Correct it and hand it in again:";
    throw refusal([wrong, ...found].join("\n"));
  }
  const bytes = Buffer.from(content);
  const hash = hashOf(bytes);
  const isThere = (await place.hashOf(artifact.path)) === hash;
  if (!isThere) {
    await replaceFile(target, { content }, (root, changes, act) =>
      keep({ call_id, tool: HAND_IN.name, root }, changes, act),
    );
  }
  await store.write(keepArtifact, { fence, hash });
  const done = isThere ? "is already stored" : "is stored";
  return [`the artifact ${done} as ${target.shown} (${bytes.length} bytes)`, ...found].join("\n");
}
