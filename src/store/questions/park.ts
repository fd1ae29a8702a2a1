import { sql } from "kysely";

import type { Session } from "../../core/sessions.ts";
import type { Tx } from "../store.ts";
import { withinTree } from "./tree.ts";

/**
 * What becomes of an exchange that would wait for a person: if every question was answered while it
 * still ran, a node continues it. One of a sub-agent is continued by its parent's.
 */
export async function parkedState(
  tx: Tx,
  { id, parent_session_id }: Pick<Session, "id" | "parent_session_id">,
): Promise<"queued" | "waiting"> {
  return parent_session_id === null && (await areAnswered(tx, id)) ? "queued" : "waiting";
}

/** True if something was asked in the session and below it, and nothing still is. */
export async function areAnswered(tx: Tx, id: string): Promise<boolean> {
  const { open, answered } = await tx.db
    .selectFrom("questions")
    .select([
      sql<number>`count(*) filter (where questions.state = 'open')`.as("open"),
      sql<number>`count(*) filter (where questions.state = 'answered')`.as("answered"),
    ])
    .where("session_id", "in", withinTree(id))
    .executeTakeFirstOrThrow();
  return open === 0 && answered > 0;
}
