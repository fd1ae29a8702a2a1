import type { QueryParts } from "../engines/prepared.ts";
import type { Tx } from "../store.ts";

/**
 * The session at the top of a session's tree, found through its parents: rows of older versions
 * don't name it. Null if a parent is missing or they form a cycle.
 */
export async function rootOf(tx: Tx, id: string): Promise<string | null> {
  const row = await climbFrom(tx, [id])
    .selectFrom("climb")
    .select("top")
    .where("parent", "is", null)
    .executeTakeFirst();
  return row?.top ?? null;
}

/** With a row for each session above one of these; `union` ends in a cycle. */
export function climbFrom({ db }: QueryParts, ids: readonly string[]) {
  return db.withRecursive("climb(id, top, parent)", (query) =>
    query
      .selectFrom("sessions")
      .select(["id", "id as top", "parent_session_id as parent"])
      .where("id", "in", ids)
      .union(
        query
          .selectFrom("climb")
          .innerJoin("sessions as above", "above.id", "climb.parent")
          .select(["climb.id as id", "above.id as top", "above.parent_session_id as parent"]),
      ),
  );
}
