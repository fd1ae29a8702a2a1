import { sql } from "kysely";

import { withinDelegation } from "../questions/tree.ts";
import type { Tx } from "../../store.ts";

/**
 * Counts the answers of models and the successful results of calls in a session and its sub-agents. The count has risen
 * exactly if there was another one since.
 * Checkpoints do not count, because each attempt stores some, and neither do summaries, messages of people and results that
 * replace those of calls whose end is unknown. What a resumed exchange finds finished is not stored again, so it counts once.
 * Costs as much as the tree has messages; it is read only after the death of a process.
 */
export async function readProgress(tx: Tx, id: string): Promise<number> {
  const { count } = await tx.db
    .selectFrom("messages")
    .select(sql<number>`count(*)`.as("count"))
    .where("session_id", "in", withinDelegation(id))
    .where(({ eb, or, and }) =>
      or([eb("status", "=", "ok"), and({ role: "assistant", is_summary: 0 })]),
    )
    .executeTakeFirstOrThrow();
  return count;
}
