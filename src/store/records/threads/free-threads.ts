import { type RawBuilder, sql } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import { parseThreadId } from "../../../core/threads.ts";
import type { Fence } from "../leases/fence.ts";
import { threadRange } from "../sessions/tree-ids.ts";
import type { Tx } from "../../store.ts";
import { SESSION_IN_THREAD_ID } from "../../session-in-thread-id.ts";

/*
 * A thread belongs to a session if its id has the form that `parseThreadId` reads and the session
 * exists. Every other thread is free, whatever its id looks like.
 */

/** The session that a thread belongs to; null for a free one. */
export async function sessionOfThread(tx: Tx, threadId: string): Promise<string | null> {
  const sessionId = parseThreadId(threadId)?.sessionId;
  if (sessionId === undefined) {
    return null;
  }
  const session = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", sessionId)
    .executeTakeFirst();
  return session?.id ?? null;
}

/** Refusals of what somebody wants to do with a session's thread. */
const REFUSALS = {
  change:
    "This thread belongs to a session. Use `reprise sessions delete` to delete it with its session, or choose another thread id.",
  export:
    "This thread belongs to a session. Use `reprise sessions export`, or choose another thread id.",
  create:
    "The database has a session that owns this thread id. Choose another thread id, or another database.",
} as const;

/** Error codes: `thread_of_session`. */
export async function requireFreeThread(
  tx: Tx,
  threadId: string,
  use: keyof typeof REFUSALS,
): Promise<void> {
  if ((await sessionOfThread(tx, threadId)) !== null) {
    throw new RepriseError("thread_of_session", REFUSALS[use]);
  }
}

/**
 * Creates a free thread; its number. Error codes: `thread_exists`; `thread_of_session` if it would
 * belong to a session.
 */
export async function createFreeThread(tx: Tx, threadId: string): Promise<number> {
  const sessionId = parseThreadId(threadId)?.sessionId;
  if (sessionId !== undefined) {
    await holdThreadsOf(tx, sessionId);
  }
  await requireFreeThread(tx, threadId, "create");
  const row = await tx.db
    .insertInto("threads")
    .values({ thread_id: threadId })
    .onConflict((conflict) => conflict.column("thread_id").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (row === undefined) {
    throw new RepriseError(
      "thread_exists",
      "There is another thread with this id already. Choose another id, or delete that thread first.",
    );
  }
  return row.id;
}

/** True if the fence is the lease of the session that a thread is named after. */
export function isFenceOf(fence: Fence, threadId: string): boolean {
  return parseThreadId(threadId)?.sessionId === fence.session_id;
}

/**
 * Refuses a session's thread, and keeps a session from taking a free one until the transaction ends.
 * Error codes: `lease_required`.
 */
export async function refuseWithoutLease(tx: Tx, threadId: string): Promise<void> {
  const sessionId = parseThreadId(threadId)?.sessionId;
  if (sessionId === undefined) {
    return;
  }
  await holdThreadsOf(tx, sessionId);
  if ((await sessionOfThread(tx, threadId)) !== null) {
    throw new RepriseError(
      "lease_required",
      "This thread belongs to a session, and is written with the session's lease only. Use another thread_id, or run the graph in the session.",
    );
  }
}

/**
 * For a session that was just created: refuses free threads that it would own now.
 * Error codes: `session_exists`.
 */
export async function refuseFreeThreadsOf(tx: Tx, sessionId: string): Promise<void> {
  await holdThreadsOf(tx, sessionId);
  const { from, before } = threadRange(sessionId);
  const taken = await tx.db
    .selectFrom("threads")
    .select("thread_id")
    .where("thread_id", ">=", from)
    .where("thread_id", "<", before)
    .execute();
  if (taken.some(({ thread_id }) => parseThreadId(thread_id) !== null)) {
    throw new RepriseError(
      "session_exists",
      "The database holds a thread that a session with this id would own, but no such session. Give the session another id, or delete the thread.",
    );
  }
}

/** Sessions and free threads are created one after the other under the same id. */
async function holdThreadsOf(tx: Tx, sessionId: string): Promise<void> {
  await tx.dialect.holdName(`threads ${sessionId}`)?.execute(tx.db);
}

/** See `SESSION_IN_THREAD_ID`. */
export function sessionInThreadId(): RawBuilder<string | null> {
  return sql.raw(SESSION_IN_THREAD_ID);
}

export function threadNotFound(): RepriseError {
  return new RepriseError(
    "thread_not_found",
    "No thread has this id; list the threads to see their ids.",
  );
}

/** Deletes a thread in the target of a copy. */
const DELETE_IN_TARGET = "`reprise threads delete <id> --database <target>`";

/** For a copy to a database that has another thread of this id. Error code `thread_exists`. */
export function targetHasThread(): RepriseError {
  return new RepriseError(
    "thread_exists",
    `The target has another thread with this id, or a later state of it, so it was not changed. If the source is right, delete it in the target (${DELETE_IN_TARGET}) and copy again.`,
  );
}

/** For a copy that finds its thread changed by others. Error code `thread_exists`. */
export function changedInTarget(): RepriseError {
  return new RepriseError(
    "thread_exists",
    `Another program changed this thread in the target while it was copied. Delete it in the target (${DELETE_IN_TARGET}) and copy again.`,
  );
}
