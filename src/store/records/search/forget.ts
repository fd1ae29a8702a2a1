import type { ExpressionBuilder } from "kysely";

import type { Database } from "../../tables/database.ts";
import type { Operation, Tx } from "../../store.ts";

/** Takes a session out of the index: the next search indexes it again. Error codes: none. */
export const forgetIndexed: Operation<{ readonly session_id: string }, void> = async (
  tx,
  { session_id },
) => {
  await indexFamily(tx, session_id);
  const session = await tx.db
    .selectFrom("sessions")
    .select("changed")
    .where("id", "=", session_id)
    .executeTakeFirst();
  if (session !== undefined) {
    await holdIndex(tx);
    await tx.db.deleteFrom("search_marks").where("session_id", "=", session_id).execute();
    await indexFrom(tx, session.changed);
  }
};

/** Has the messages from a position on indexed again, because the text of one is another. */
export async function indexAgain(tx: Tx, session_id: string, seq: number): Promise<void> {
  await indexFamily(tx, session_id, seq);
  await tx.db
    .updateTable("search_marks")
    .set(indexedBefore(seq))
    // whatever the mark says: a process that indexes the session now holds it
    .where("session_id", "=", session_id)
    .execute();
}

/**
 * Has the forks of a session, and the session if it is a fork, indexed again from a position on, because the origin may show
 * other messages than before. Comes before any change of a mark: indexing holds the index, then a mark.
 */
export async function indexFamily(tx: Tx, id: string, seq = 1): Promise<void> {
  const family = tx.db
    .selectFrom("sessions")
    .where("forked_from_seq", ">=", seq)
    .where("forked_from_session_id", "is not", null)
    .where(({ or, eb }) => or([eb("forked_from_session_id", "=", id), eb("id", "=", id)]));
  const first = await family.select(({ fn }) => fn.min("changed").as("changed")).executeTakeFirst();
  const changed = first?.changed ?? null;
  if (changed !== null) {
    await holdIndex(tx);
    await tx.db
      .updateTable("search_marks")
      .set(indexedBefore(seq))
      .where("session_id", "in", family.select("id"))
      .execute();
    await indexFrom(tx, changed);
  }
}

/** Marks of sessions whose messages are indexed before a position at most. */
function indexedBefore(seq: number) {
  return ({ eb, val }: ExpressionBuilder<Database, "search_marks">) => ({
    indexed_seq: eb
      .case()
      .when("indexed_seq", "<", seq)
      .then(eb.ref("indexed_seq"))
      .else(val(seq - 1))
      .end(),
  });
}

async function indexFrom({ db }: Tx, changed: number): Promise<void> {
  await db.updateTable("search_state").set({ changed }).where("changed", ">", changed).execute();
}

/** Holds the index: only a single transaction may change it. */
export async function holdIndex({ db, dialect }: Tx): Promise<void> {
  await dialect.holdName(INDEX)?.execute(db);
}

/** Name that is held by who changes the index. */
const INDEX = "reprise search";

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
