import type { Operation, Tx } from "../../store.ts";

/** Deeper than any tree of sub-agents, and the end of a cycle. */
export const MAX_ANCESTORS = 100;

/** The session at the top of a session's tree; null for a session that is not there. */
export const rootOf: Operation<string, string | null> = async (tx, id) => {
  const row = await tx.db
    .selectFrom("sessions")
    .select("root_session_id")
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.root_session_id ?? null;
};

/** A session's sub-agents, by creation, then by id: the same order in every database. */
export async function childIdsOf(tx: Tx, sessionId: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("parent_session_id", "=", sessionId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** The session, then all below it, each once and after its parent, also if their parents form a cycle. */
export async function treeIdsOf(tx: Tx, sessionId: string): Promise<string[]> {
  const ids = new Set<string>();
  await addBelow(tx, sessionId, ids);
  return [...ids];
}

async function addBelow(tx: Tx, sessionId: string, ids: Set<string>): Promise<void> {
  if (!ids.has(sessionId)) {
    ids.add(sessionId);
    for (const child of await childIdsOf(tx, sessionId)) {
      await addBelow(tx, child, ids);
    }
  }
}

/** As `treeIdsOf`; a session that is not there has nothing below it. */
export const readTreeIds: Operation<{ readonly id: string }, readonly string[]> = (tx, { id }) =>
  treeIdsOf(tx, id);

/** The range of thread ids that belong to a session: ":" is followed by ";". */
export function threadRange(sessionId: string): { readonly from: string; readonly before: string } {
  return { from: `${sessionId}:`, before: `${sessionId};` };
}
