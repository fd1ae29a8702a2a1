import { refusingDamage } from "../checkpoints/damage.ts";
import {
  createFreeThread,
  sessionOfThread,
  threadNotFound,
} from "../records/threads/free-threads.ts";
import { holdThread } from "../checkpoints/threads.ts";
import { bodiesOf } from "../records/threads/families.ts";
import { lockSession } from "../records/sessions/lock.ts";
import type { Operation, Tx } from "../store.ts";
import { readStructure, selectThreads } from "./read-thread.ts";
import { writeStructure } from "./write-thread.ts";

export interface CopyThread {
  readonly from: string;
  /** Id of a thread that does not exist. */
  readonly to: string;
}

/**
 * Copies a thread to a new free thread: checkpoints, lists, what tasks wrote, and how far it was
 * pruned. Bodies are copied inside the database. Writers of the source wait meanwhile.
 *
 * Error codes: `thread_not_found`; `thread_exists`; `thread_of_session` if `to` would belong to a
 * session; `database_corrupt` if references are broken.
 */
export const copyThread: Operation<CopyThread, void> = async (tx, { from, to }) => {
  const thread = await createFreeThread(tx, to);
  await holdSource(tx, from);
  const row = await selectThreads(tx).where("thread_id", "=", from).executeTakeFirst();
  if (row === undefined) {
    throw threadNotFound();
  }
  const pairs = await copyBodies(tx, { from: row.id, to: thread });
  const ids = pairs.map(({ id }) => id);
  const structure = await refusingDamage(() => readStructure(tx, { row, bodies: ids }));
  const bodies = pairs.map(({ copy }) => copy);
  await writeStructure(tx, { thread, thread_id: to, structure, bodies });
};

/** Writers of a session's thread hold the session, others the thread. */
async function holdSource(tx: Tx, thread_id: string): Promise<void> {
  const sessionId = await sessionOfThread(tx, thread_id);
  await (sessionId === null
    ? holdThread(tx, { thread_id, fence: null })
    : lockSession(tx, sessionId));
}

/** Returns each body with its copy, both in ascending order. */
async function copyBodies(tx: Tx, { from, to }: { readonly from: number; readonly to: number }) {
  await tx.db
    .insertInto("checkpoint_bodies")
    .columns(["thread", "hash", "body"])
    .expression(({ lit }) =>
      bodiesOf(tx, from)
        .select([lit(to).as("thread"), "hash", "body"])
        .orderBy("checkpoint_bodies.id"),
    )
    .execute();
  return bodiesOf(tx, from)
    .innerJoin("checkpoint_bodies as copy", "copy.hash", "checkpoint_bodies.hash")
    .select(["checkpoint_bodies.id", "copy.id as copy"])
    .where("copy.thread", "=", to)
    .orderBy("checkpoint_bodies.id")
    .execute();
}
