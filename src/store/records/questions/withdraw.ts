import { endColumns } from "../exchanges/end-columns.ts";
import type { Tx } from "../../store.ts";
import { touchPath, withinDelegation, withinTree } from "./tree.ts";

export interface Withdrawal {
  /** True if a later message is the reason: the sub-agents are not continued, and count as idle. */
  readonly isSuperseded: boolean;
  /** True if nothing that is pending will be handed over any more. */
  readonly messages?: boolean;
  /** True if all sessions below are meant, also those that no call began. */
  readonly all?: boolean;
}

/**
 * Withdraws the questions of this session and its sub-agents, whose answers are needed no more, and stops the
 * exchanges that wait for them.
 */
export async function withdrawQuestions(
  tx: Tx,
  id: string,
  { isSuperseded, messages = false, all = false }: Withdrawal,
): Promise<void> {
  const within = all ? withinTree : withinDelegation;
  const withdrawn = await tx.db
    .updateTable("questions")
    .set({ state: "withdrawn" })
    .where("state", "=", "open")
    .where("session_id", "in", within(id))
    .$if(!messages, (query) => query.where("kind", "!=", "messages"))
    .returning("session_id")
    .execute();
  const stopped = await tx.db
    .updateTable("exchanges")
    .set((eb) => ({ ...endColumns(eb, tx.dialect), state: "stopped" }))
    .where("state", "=", "waiting")
    .where("ended_at", "is", null)
    .where("session_id", "in", within(id))
    .returning("session_id")
    .execute();
  const below = stopped.map(({ session_id }) => session_id).filter((each) => each !== id);
  if (isSuperseded && below.length > 0) {
    await tx.db
      .updateTable("sessions")
      .set({ exchange_open: 0 })
      .where("id", "in", below)
      .where("lease_owner", "is", null)
      .execute();
  }
  for (const session_id of new Set(withdrawn.map((row) => row.session_id))) {
    await touchPath(tx, session_id);
  }
}
