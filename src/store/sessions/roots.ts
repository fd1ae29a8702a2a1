import type { Tx } from "../store.ts";

/** Deeper than any tree of sub-agents, and the end of a cycle. */
export const MAX_ANCESTORS = 100;

/**
 * The session at the top of a session's tree. Rows of older versions don't name it: there it is found
 * through the parents. Null if a parent is missing or they form a cycle.
 */
export async function rootOf(tx: Tx, id: string): Promise<string | null> {
  let next = id;
  for (let above = 0; above < MAX_ANCESTORS; above += 1) {
    const row = await tx.db
      .selectFrom("sessions")
      .select(["root_session_id", "parent_session_id"])
      .where("id", "=", next)
      .executeTakeFirst();
    const root = row?.root_session_id ?? null;
    const parent = row?.parent_session_id ?? null;
    if (row === undefined || root !== null) {
      return root;
    }
    if (parent === null) {
      return next;
    }
    next = parent;
  }
  return null;
}
