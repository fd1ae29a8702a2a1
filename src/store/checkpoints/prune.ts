import { type Parameter, prepared } from "../prepared.ts";
import type { Operation, Tx } from "../store.ts";
import { batches } from "../records/threads/bodies.ts";
import { type PrunedIds, NOTHING_PRUNED, planPrune } from "./plan-prune.ts";
import { type FencedThread, holdThread } from "./threads.ts";
import { readPrunableRows } from "./prunable-rows.ts";

/**
 * Prunes the checkpoints of a finished exchange: only its last one stays, and its parent is then
 * the last one of the exchange before. What was only needed on the way goes: inner checkpoints,
 * those of graphs inside a task, what tasks wrote, and the values and lists that nothing else
 * refers to. Messages stay, even those that left the thread again: their rows are compared with
 * them. So does whatever another branch of the thread begins from. Costs the same however long the
 * thread is.
 *
 * Only for a thread whose exchange finished: to continue an interrupted one, what its
 * tasks wrote is needed. Run again, it changes nothing. The answer names what is gone, for those
 * who remember what the thread has. Error codes: as `holdFence`.
 */
export const pruneThread: Operation<FencedThread, PrunedIds> = async (tx, input) => {
  await holdThread(tx, input);
  return pruneHeldThread(tx, input.thread_id);
};

/** As `pruneThread`, in a transaction that keeps other writers from the thread. */
export async function pruneHeldThread(tx: Tx, threadId: string): Promise<PrunedIds> {
  const rows = await readPrunableRows(tx, threadId);
  if (rows === null) {
    return NOTHING_PRUNED;
  }
  const { thread } = rows;
  const { parents, gone } = planPrune(rows);
  for (const parent of parents) {
    await tx.rows(setParent, parent);
  }
  await removeCheckpoints(tx, thread, gone);
  await removeValues(tx, gone);
  await tx.rows(markPruned, { thread });
  return gone;
}

export const setParent = prepared(
  ({ db }, given: Parameter<{ readonly row: number; readonly parent_id: string | null }>) =>
    db
      .updateTable("checkpoints")
      .set({ parent_id: given("parent_id") })
      .where("id", "=", given("row")),
);

/**
 * Marks the thread as pruned: later runs leave what it has now. The marks
 * are the highest ids of all threads, which serve as well and cost nothing to find.
 */
export const markPruned = prepared(({ db }, given: Parameter<{ readonly thread: number }>) => {
  const highest = (table: "checkpoints" | "checkpoint_bodies" | "checkpoint_lists") =>
    db.selectFrom(table).select(({ fn, val }) => fn.coalesce(fn.max("id"), val(0)).as("id"));
  return db
    .updateTable("threads")
    .set({
      folded_checkpoint: highest("checkpoints"),
      folded_body: highest("checkpoint_bodies"),
      folded_list: highest("checkpoint_lists"),
    })
    .where("id", "=", given("thread"));
});

export async function removeCheckpoints(
  tx: Tx,
  thread: number,
  { checkpoints }: PrunedIds,
): Promise<void> {
  for (const [ns, gone] of Map.groupBy(checkpoints, (one) => one.ns)) {
    for (const ids of batches(gone)) {
      await tx.rows(deleteWrites, { thread, ns, ids });
      await tx.rows(deleteCheckpoints, { thread, ns, ids });
    }
  }
}

const deleteWrites = deleteFrom("checkpoint_writes");
const deleteCheckpoints = deleteFrom("checkpoints");

interface Deleted {
  readonly thread: number;
  readonly ns: string;
  readonly ids: PrunedIds["checkpoints"];
}

function deleteFrom(table: "checkpoint_writes" | "checkpoints") {
  return prepared(({ db }, given: Parameter<Deleted>) =>
    db
      .deleteFrom(table)
      .where("thread", "=", given("thread"))
      .where("ns", "=", given("ns"))
      .where("checkpoint_id", "in", given.all("ids", "checkpoint_id")),
  );
}

/** A message's body is a JSON array that begins with a text, and stays. */
const MESSAGE_TEXT = '["%';

async function removeValues(tx: Tx, { lists, bodies }: PrunedIds): Promise<void> {
  for (const ids of batches(lists)) {
    await tx.db.deleteFrom("checkpoint_lists").where("id", "in", ids).execute();
  }
  for (const ids of batches(bodies)) {
    await tx.db
      .deleteFrom("checkpoint_bodies")
      .where("id", "in", ids)
      .where("body", "not like", MESSAGE_TEXT)
      .execute();
  }
}
