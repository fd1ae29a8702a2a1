import type { Operation } from "../store.ts";

/**
 * True if a service has begun an exchange in the session that has not ended and waits for no person: a node
 * runs it now, or continues it.
 */
export const isLeftToNodes: Operation<{ readonly session_id: string }, boolean> = async (
  tx,
  { session_id },
) => {
  const row = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .where("begun_at", "is not", null)
    .where("queued_at", "is not", null)
    .where("state", "!=", "waiting")
    .executeTakeFirst();
  return row !== undefined;
};
