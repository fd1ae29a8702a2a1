import type { Operation, Tx } from "../../store.ts";
import { batches } from "../../records/threads/bodies.ts";
import { requireFreeThread } from "../../records/threads/free-threads.ts";
import { keptCheckpoints } from "../kept-checkpoints.ts";
import {
  distinctKeys,
  freeLists,
  NOTHING_PRUNED,
  type PrunedIds,
  type PrunePlan,
  refsOfAll,
} from "../plan-prune.ts";
import { removeCheckpoints, setParent } from "../prune.ts";
import { type CheckpointRow, readThreadRows, type ThreadRows } from "./thread-rows.ts";
import { bytesOf } from "./thread-stats.ts";
import { findThread, holdThread } from "../threads.ts";

export interface PruneFreeThread {
  readonly thread_id: string;
  /** How many of the latest checkpoints of each branch stay, from 1. */
  readonly keep: number;
}

/** Rows that pruning takes away. */
export interface PruneReport {
  readonly checkpoints: number;
  /** Bytes of the texts that go; see `ThreadStats`. */
  readonly bytes: number;
}

const NOTHING: PruneReport = { checkpoints: 0, bytes: 0 };

/** Returns what `pruneFreeThread` would take away. Error codes: as `pruneFreeThread`. */
export const previewPrune: Operation<PruneFreeThread, PruneReport> = async (tx, input) => {
  await requireFreeThread(tx, input.thread_id, "change");
  const thread = await findThread(tx, input.thread_id);
  return thread === null ? NOTHING : (await planOf(tx, { thread, keep: input.keep })).report;
};

/**
 * Takes all checkpoints of a thread away but the latest `keep` of each branch and what these need:
 * see `keptCheckpoints`. With them go what their tasks wrote, and the messages and values that
 * nothing else refers to. Reads all rows of the thread; other writers of the thread wait. A saver
 * that believes something stored that is gone stores it again: see `putCheckpoint`.
 *
 * A thread that does not exist is pruned already.
 *
 * Error codes: `thread_of_session`; `database_corrupt` if rows are inconsistent.
 */
export const pruneFreeThread: Operation<
  PruneFreeThread,
  PruneReport & { readonly gone: PrunedIds }
> = async (tx, { thread_id, keep }) => {
  await requireFreeThread(tx, thread_id, "change");
  const { id: thread } = await holdThread(tx, { thread_id, fence: null });
  if (thread === null) {
    return { ...NOTHING, gone: NOTHING_PRUNED };
  }
  const { report, gone, parents } = await planOf(tx, { thread, keep });
  for (const parent of parents) {
    await tx.rows(setParent, parent);
  }
  await removeCheckpoints(tx, thread, gone);
  for (const ids of batches(gone.lists)) {
    await tx.db.deleteFrom("checkpoint_lists").where("id", "in", ids).execute();
  }
  for (const ids of batches(gone.bodies)) {
    await tx.db.deleteFrom("checkpoint_bodies").where("id", "in", ids).execute();
  }
  await tx.db
    .updateTable("threads")
    .set(({ eb }) => ({ prunes: eb("prunes", "+", 1) }))
    .where("id", "=", thread)
    .execute();
  return { ...report, gone };
};

async function planOf(
  tx: Tx,
  { thread, keep }: { readonly thread: number; readonly keep: number },
): Promise<PrunePlan & { readonly report: PruneReport }> {
  const rows = await readThreadRows(tx, thread);
  const kept = keptCheckpoints(rows.checkpoints, keep);
  const staying = rows.checkpoints.filter((one) => kept.checkpoints.has(one));
  const leaving = rows.checkpoints.filter((one) => !kept.checkpoints.has(one));
  const leavingWrites = rows.writes.filter((one) => !kept.keepsWritesOf(one));
  const needed = refsOfAll([...staying, ...rows.writes.filter(kept.keepsWritesOf)]);
  const lists = freeLists(rows, needed.lists);
  const bodies = freeBodies(rows, { staying, lists, bodies: needed.bodies });
  const holders = [...leaving, ...leavingWrites].reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    report: { checkpoints: leaving.length, bytes: holders + (await bytesOfBodies(tx, bodies)) },
    gone: { checkpoints: distinctKeys([...leaving, ...leavingWrites]), bodies, lists },
    parents: kept.parents,
  };
}

/** Bodies that no shape, value or list refers to that stays. */
function freeBodies(
  rows: ThreadRows,
  {
    staying,
    lists,
    bodies,
  }: {
    readonly staying: readonly CheckpointRow[];
    readonly lists: readonly number[];
    readonly bodies: ReadonlySet<number>;
  },
): number[] {
  const gone = new Set(lists);
  const needed = new Set([
    ...bodies,
    ...staying.map(({ shape }) => shape),
    ...rows.items.flatMap(({ list, body }) => (gone.has(list) ? [] : [body])),
  ]);
  return rows.bodies.filter((id) => !needed.has(id));
}

async function bytesOfBodies(tx: Tx, bodies: readonly number[]): Promise<number> {
  let sum = 0;
  for (const ids of batches(bodies)) {
    const { bytes } = await tx.db
      .selectFrom("checkpoint_bodies")
      .select(bytesOf("body"))
      .where("id", "in", ids)
      .executeTakeFirstOrThrow();
    sum += bytes;
  }
  return sum;
}
