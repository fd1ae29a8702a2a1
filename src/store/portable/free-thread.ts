import { refusingDamage } from "../checkpoints/damage.ts";
import {
  createFreeThread,
  requireFreeThread,
  threadNotFound,
} from "../records/threads/free-threads.ts";
import type { Operation, Tx } from "../store.ts";
import type { FreeThread } from "./portable-threads.ts";
import { readThread, selectThreads } from "./read-thread.ts";
import { writeThread } from "./write-thread.ts";

/**
 * Everything that a free thread has.
 *
 * Error codes: `thread_not_found`; `thread_of_session`; `database_corrupt` if references are broken.
 */
export const readFreeThread: Operation<{ readonly thread_id: string }, FreeThread> = async (
  tx,
  { thread_id },
) => {
  await requireFreeThread(tx, thread_id, "export");
  return readContent(tx, thread_id);
};

export async function readContent(tx: Tx, thread_id: string): Promise<FreeThread> {
  const row = await selectThreads(tx).where("thread_id", "=", thread_id).executeTakeFirst();
  if (row === undefined) {
    throw threadNotFound();
  }
  return { thread_id, ...(await refusingDamage(() => readThread(tx, row))) };
}

/** Stores a thread under an id that nobody has. Error codes: as `createFreeThread`. */
export const storeFreeThread: Operation<FreeThread, void> = async (
  tx,
  { thread_id, ...content },
) => {
  const thread = await createFreeThread(tx, thread_id);
  await writeThread(tx, { thread, thread_id, content });
};
