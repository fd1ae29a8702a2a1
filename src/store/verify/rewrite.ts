import { RepriseError } from "../../core/errors.ts";
import { batches } from "../checkpoints/bodies.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import { lockSession } from "../sessions/lock.ts";
import type { Operation, Tx } from "../store.ts";
import { type MirrorCounters, type MirrorRow, readMirror, mirrorVersion } from "./mirror.ts";

export interface RewriteMirror {
  readonly session_id: string;
  /** The lease of whoever repairs; null for an ended session, which takes no exchange. */
  readonly fence: Fence | null;
  /** `stampOf` what the change was made of. */
  readonly stamp: string;
  /** Positions whose rows go, and the rows that come; a row that moves is among both. */
  readonly remove: readonly number[];
  readonly insert: readonly MirrorRow[];
  readonly counters: MirrorCounters;
}

/**
 * Brings a session's mirror into another state, all of it or nothing. The answer is `stale`, and
 * nothing is changed, when the mirror or a checkpoint is no longer what the stamp says.
 *
 * Error codes: `session_not_found`, `session_busy`, `lease_lost`, `session_ended`.
 */
export const rewriteMirror: Operation<RewriteMirror, "rewritten" | "stale"> = async (tx, input) => {
  await lockSession(tx, input.session_id);
  const mirror = await readMirror(tx, input.session_id);
  if (input.fence !== null) {
    await holdFence(tx, input.fence);
  } else if (mirror.state !== "ended") {
    throw new RepriseError(
      "session_busy",
      "Only whoever holds the session may rewrite its messages; try again.",
    );
  }
  if (mirrorVersion(mirror) !== input.stamp) {
    return "stale";
  }
  await removeRows(tx, input);
  for (const rows of batches(input.insert)) {
    await tx.db.insertInto("messages").values(rows).execute();
  }
  await tx.db
    .updateTable("sessions")
    .set(input.counters)
    .where("id", "=", input.session_id)
    .execute();
  tx.touch(input.session_id);
  return "rewritten";
};

async function removeRows(tx: Tx, { session_id, remove }: RewriteMirror): Promise<void> {
  for (const positions of batches(remove)) {
    await tx.db
      .deleteFrom("messages")
      .where("session_id", "=", session_id)
      .where("seq", "in", positions)
      .execute();
  }
}
