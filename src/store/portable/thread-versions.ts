import { sql } from "kysely";

import { sessionInThreadId } from "../records/threads/free-threads.ts";
import type { Operation, Tx } from "../store.ts";

/** A text that is another one once anybody has written to the thread. */
export type ThreadVersion = string;

interface ThreadPage {
  /** Only threads with a higher number. */
  readonly after: number;
  readonly limit: number;
}

interface FreeThread {
  readonly id: number;
  readonly thread_id: string;
  readonly version: ThreadVersion;
}

/** Free threads in ascending order of their numbers, which new activity does not disturb. */
export const readFreeThreads: Operation<ThreadPage, readonly FreeThread[]> = async (
  tx,
  { after, limit },
) => {
  const rows = await selectFreeThreads(tx)
    .where("threads.id", ">", after)
    .orderBy("threads.id")
    .limit(limit)
    .execute();
  return rows.map(freeThread);
};

/** Returns those of these ids that no thread has. */
export const readMissingThreads: Operation<readonly string[], readonly string[]> = async (
  tx,
  ids,
) => {
  const rows = await tx.db
    .selectFrom("threads")
    .select("thread_id")
    .where("thread_id", "in", ids)
    .execute();
  const there = new Set(rows.map(({ thread_id }) => thread_id));
  return ids.filter((id) => !there.has(id));
};

/** Null for a thread that is not there, or belongs to a session. */
export async function findFreeThread(tx: Tx, threadId: string): Promise<FreeThread | null> {
  const row = await selectFreeThreads(tx).where("thread_id", "=", threadId).executeTakeFirst();
  return row === undefined ? null : freeThread(row);
}

/** A write that replaces one of a task moves neither a row nor a count. */
function selectFreeThreads({ db }: Tx) {
  return db
    .selectFrom("threads")
    .leftJoin("sessions", (join) => join.on("sessions.id", "=", sessionInThreadId()))
    .select(["threads.id", "thread_id", "head_row", "prunes"])
    .select(
      sql<string>`(select count(*) || ' ' || coalesce(max(checkpoints.id), 0)
        from checkpoints where thread = threads.id)`.as("checkpoints"),
    )
    .select(
      sql<string>`(select count(*) || ' ' || coalesce(sum(octet_length(writes)), 0)
        from checkpoint_writes where thread = threads.id)`.as("writes"),
    )
    .where("sessions.id", "is", null);
}

function freeThread({ id, thread_id, ...row }: { id: number; thread_id: string }): FreeThread {
  return { id, thread_id, version: JSON.stringify([id, ...Object.values(row)]) };
}

/** Threads that are read at a time. */
const PAGE = 200;

export async function* freeThreadPages(
  read: (page: ThreadPage) => Promise<readonly FreeThread[]>,
): AsyncGenerator<readonly FreeThread[]> {
  let page = await read({ after: 0, limit: PAGE });
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield page;
    page = await read({ after: last.id, limit: PAGE });
  }
}
