import { withinDelegation } from "../../../src/store/records/questions/tree.ts";
import type { Operation } from "../../../src/store/store.ts";

/** Counts the messages that each attempt of a run has got, by its call. */
export const promptsOf: Operation<
  { readonly session_id: string },
  Readonly<Record<string, number>>
> = async ({ db }, { session_id }) => {
  const rows = await db
    .selectFrom("sessions")
    .innerJoin("messages", "messages.session_id", "sessions.id")
    .select(({ fn }) => ["parent_call_id", fn.countAll<number>().as("count")])
    .where("parent_session_id", "=", session_id)
    .where("role", "=", "user")
    .groupBy("parent_call_id")
    .orderBy("parent_call_id")
    .execute();
  return Object.fromEntries(rows.map(({ parent_call_id, count }) => [parent_call_id, count]));
};

/** The ids of a run's session and of its sub-agents. */
export const treeOf: Operation<{ readonly id: string }, readonly string[]> = async (
  { db },
  { id },
) => {
  const rows = await db
    .selectFrom("sessions")
    .select("id")
    .where("id", "in", withinDelegation(id))
    .execute();
  return rows.map((row) => row.id);
};
