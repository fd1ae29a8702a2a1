import { parseThreadId } from "../../../core/threads.ts";
import { indexAgain } from "../../records/search/forget.ts";
import type { Tx } from "../../store.ts";
import { restoreEdited } from "./restore-edited.ts";

export interface ShowBranch {
  readonly thread_id: string;
  readonly ns: string;
  /** The checkpoint that is stored, and the one that it continues. */
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  /** The latest root checkpoint of the thread before. */
  readonly head_id: string | null;
}

/**
 * Has a session show the messages of the checkpoint that a new one continues, if that is not the latest of its thread: the
 * mirror shows those of the latest one, whose graph may have changed them.
 */
export async function showBranch(tx: Tx, input: ShowBranch): Promise<void> {
  const { thread_id, ns, checkpoint_id, parent_id, head_id } = input;
  const isNext = head_id === parent_id || head_id === checkpoint_id;
  const id = parseThreadId(thread_id)?.sessionId;
  if (ns !== "" || id === undefined || parent_id === null || head_id === null || isNext) {
    return;
  }
  const rows = await tx.db
    .selectFrom("threads")
    .innerJoin("checkpoints", "checkpoints.thread", "threads.id")
    .select(["checkpoints.id", "checkpoint_id"])
    .where("thread_id", "=", thread_id)
    .where("ns", "=", "")
    .where("checkpoint_id", "in", [parent_id, head_id])
    .execute();
  const [parent, head] = [parent_id, head_id].map((one) =>
    rows.find((row) => row.checkpoint_id === one),
  );
  if (parent === undefined || head === undefined) {
    return;
  }
  const changed = await restoreEdited(tx, { id, checkpoint: parent.id, latest: head.id });
  if (changed !== null) {
    await indexAgain(tx, id, changed);
    await tx.db
      .updateTable("sessions")
      .set(({ ref }) => ({ last_seq: ref("last_seq"), ...tx.dialect.changeNumber }))
      .where("id", "=", id)
      .execute();
    tx.touch(id);
  }
}
