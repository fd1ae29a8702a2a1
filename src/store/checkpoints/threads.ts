import type { Operation, Tx } from "../store.ts";
import { type Fence, holdFence } from "../leases/fence.ts";

/** The number of a thread; null for one that has no checkpoints. */
export async function findThread(tx: Tx, threadId: string): Promise<number | null> {
  const row = await tx.db
    .selectFrom("checkpoint_threads")
    .select("id")
    .where("thread_id", "=", threadId)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** The number of a thread, given out where it has none yet. */
export async function keepThread(tx: Tx, threadId: string): Promise<number> {
  const known = await findThread(tx, threadId);
  if (known !== null) {
    return known;
  }
  const row = await tx.db
    .insertInto("checkpoint_threads")
    .values({ thread_id: threadId })
    .onConflict((conflict) =>
      conflict
        .column("thread_id")
        .doUpdateSet((eb) => ({ thread_id: eb.ref("excluded.thread_id") })),
    )
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/**
 * Keeps other writers from a thread until the transaction ends: by the lease of its session, or,
 * where nobody needs one, by the thread's own row. Error codes: as `holdFence`.
 */
export async function holdThread(
  tx: Tx,
  { thread_id, fence }: { readonly thread_id: string; readonly fence: Fence | null },
): Promise<void> {
  if (fence !== null) {
    await holdFence(tx, fence);
  } else if (!tx.dialect.writersQueue) {
    await tx.db
      .selectFrom("checkpoint_threads")
      .select("id")
      .where("thread_id", "=", thread_id)
      .modifyEnd(tx.dialect.forUpdate)
      .execute();
  }
}

export interface DeleteThread {
  readonly thread_id: string;
  readonly fence: Fence | null;
}

/**
 * Deletes everything that was kept of a thread; the mirror keeps its messages. A thread that does
 * not exist is deleted already. Error codes: as `holdFence`.
 */
export const deleteThread: Operation<DeleteThread, void> = async (tx, input) => {
  await holdThread(tx, input);
  await tx.db.deleteFrom("checkpoint_threads").where("thread_id", "=", input.thread_id).execute();
};
