import type { SelectQueryBuilder } from "kysely";

import type { Database } from "../../tables/database.ts";
import type { Operation, Tx } from "../../store.ts";

/** Takes a session out of the index: the next search indexes it again. Error codes: none. */
export const forgetIndexed: Operation<{ readonly session_id: string }, void> = (
  tx,
  { session_id },
) => forgetSessions(tx, tx.db.selectFrom("sessions").where("id", "=", session_id));

/** Has the messages from a position on indexed again, because the text of one is another. */
export async function indexAgain(tx: Tx, session_id: string, seq: number): Promise<void> {
  await tx.db
    .updateTable("search_marks")
    .set(({ eb, val }) => ({
      indexed_seq: eb
        .case()
        .when("indexed_seq", "<", seq)
        .then(eb.ref("indexed_seq"))
        .else(val(seq - 1))
        .end(),
    }))
    // whatever the mark says: a process that indexes the session now holds it
    .where("session_id", "=", session_id)
    .execute();
}

/**
 * Has the forks of a session indexed again that is deleted or that the filters of a search may leave out from here on: what they
 * have of it was found in it.
 */
export function indexForks(tx: Tx, session_id: string): Promise<void> {
  return forgetSessions(
    tx,
    tx.db.selectFrom("sessions").where("forked_from_session_id", "=", session_id),
  );
}

/** Has a session, if it is a fork, and its forks indexed again, because it has another folder. */
export function indexMoved(tx: Tx, session_id: string): Promise<void> {
  return forgetSessions(
    tx,
    tx.db
      .selectFrom("sessions")
      .where("forked_from_session_id", "is not", null)
      .where(({ or, eb }) =>
        or([eb("forked_from_session_id", "=", session_id), eb("id", "=", session_id)]),
      ),
  );
}

async function forgetSessions(
  { db, dialect }: Tx,
  sessions: SelectQueryBuilder<Database, "sessions", object>,
): Promise<void> {
  const first = await sessions
    .select(({ fn }) => fn.min("changed").as("changed"))
    .executeTakeFirst();
  const changed = first?.changed ?? null;
  if (changed !== null) {
    await dialect.holdName(INDEX)?.execute(db);
    await db.deleteFrom("search_marks").where("session_id", "in", sessions.select("id")).execute();
    await db.updateTable("search_state").set({ changed }).where("changed", ">", changed).execute();
  }
}

/** Name that is held by who changes the index. */
export const INDEX = "reprise search";

/** Whether something of deleted messages is left in the index. Error codes: none. */
export const isUnmerged: Operation<null, boolean> = async ({ db }) => {
  const { unmerged } = await db
    .selectFrom("search_state")
    .select("unmerged")
    .executeTakeFirstOrThrow();
  return unmerged !== 0;
};

/**
 * Does a step of removing what the index still holds of deleted messages. False once nothing is left. Error codes: none.
 */
export const mergeStep: Operation<{ readonly isFirst: boolean }, boolean> = async (
  { db, dialect },
  { isFirst },
) => {
  const { unmerged } = await db
    .selectFrom("search_state")
    .select("unmerged")
    .executeTakeFirstOrThrow();
  if (unmerged === 0) {
    return false;
  }
  // 1: something was deleted since a merge began, so all of the index is merged once more
  const isBeginning = isFirst || unmerged === 1;
  const more = await dialect.search.merge(db, isBeginning);
  await db
    .updateTable("search_state")
    .set({ unmerged: more ? 2 : 0 })
    .execute();
  return more;
};
