import type { Fence } from "../leases/fence.ts";
import type { Operation, Tx } from "../store.ts";
import { batches } from "./bodies.ts";
import { type PrunedIds, NOTHING_PRUNED, planPrune } from "./plan-prune.ts";
import { holdThread } from "./threads.ts";
import { readPrunableRows } from "./prunable-rows.ts";

export interface PruneThread {
  readonly thread_id: string;
  readonly fence: Fence | null;
}

/**
 * Folds the checkpoints of a finished exchange into its last one, whose parent is then the last
 * one of the exchange before. What was only needed on the way goes: inner checkpoints, those of
 * graphs inside a task, what tasks wrote, and the values and lists that nothing else refers to.
 * Messages stay, even those that left the thread again: their rows are compared with them. So does
 * whatever another branch of the thread begins from. Costs the same however long the thread is.
 *
 * Only for a thread whose exchange came to its end: to go on with an interrupted one, what its
 * tasks wrote is needed. Carried out again, it changes nothing. The answer names what is gone, for
 * those who remember what the thread has. Error codes: as `holdFence`.
 */
export const pruneThread: Operation<PruneThread, PrunedIds> = async (tx, input) => {
  await holdThread(tx, input);
  const unfolded = await readPrunableRows(tx, input.thread_id);
  if (unfolded === null) {
    return NOTHING_PRUNED;
  }
  const { parents, gone } = planPrune(unfolded);
  for (const { row, parent_id } of parents) {
    await tx.db.updateTable("checkpoints").set({ parent_id }).where("id", "=", row).execute();
  }
  await removeCheckpoints(tx, unfolded.thread, gone);
  await removeValues(tx, gone);
  await markFolded(tx, unfolded.thread);
  return gone;
};

/**
 * Takes the thread as it stands for folded: what it has now, later folds leave alone. The marks
 * are the highest ids of all threads, which serve as well and cost nothing to find.
 */
async function markFolded(tx: Tx, thread: number): Promise<void> {
  await tx.db
    .updateTable("checkpoint_threads")
    .set({
      folded_checkpoint: await highest(tx, "checkpoints"),
      folded_body: await highest(tx, "checkpoint_bodies"),
      folded_list: await highest(tx, "checkpoint_lists"),
    })
    .where("id", "=", thread)
    .execute();
}

async function removeCheckpoints(
  tx: Tx,
  thread: number,
  { checkpoints }: PrunedIds,
): Promise<void> {
  for (const [ns, ids] of Map.groupBy(checkpoints, (one) => one.ns)) {
    for (const batch of batches(ids.map(({ checkpoint_id }) => checkpoint_id))) {
      for (const table of ["checkpoint_writes", "checkpoints"] as const) {
        await tx.db
          .deleteFrom(table)
          .where("thread", "=", thread)
          .where("ns", "=", ns)
          .where("checkpoint_id", "in", batch)
          .execute();
      }
    }
  }
}

/** A message's body is a JSON array that begins with a text: one is never taken for a value. */
const MESSAGE_TEXT = '["%';

async function removeValues(tx: Tx, { lists, bodies }: PrunedIds): Promise<void> {
  for (const batch of batches(lists)) {
    await tx.db.deleteFrom("checkpoint_lists").where("id", "in", batch).execute();
  }
  for (const batch of batches(bodies)) {
    await tx.db
      .deleteFrom("checkpoint_bodies")
      .where("id", "in", batch)
      .where("body", "not like", MESSAGE_TEXT)
      .execute();
  }
}

async function highest(
  tx: Tx,
  table: "checkpoints" | "checkpoint_bodies" | "checkpoint_lists",
): Promise<number> {
  const row = await tx.db
    .selectFrom(table)
    .select("id")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? 0;
}
