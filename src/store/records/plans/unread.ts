import { MAX_UNREAD } from "../../../core/plan-runs.ts";
import type { Operation } from "../../store.ts";

/** A message in a run's session besides its request: no model gets it. */
export interface UnreadMessage {
  readonly seq: number;
  readonly ts: string;
  /** Its beginning. */
  readonly content: string;
}

/** Reads the latest such messages of a run's session, in their order. */
export const readUnread: Operation<{ readonly session_id: string }, UnreadMessage[]> = async (
  { db },
  { session_id },
) => {
  const rows = await db
    .selectFrom("messages")
    .select(["seq", "ts"])
    .select(({ fn, val }) =>
      fn<string>("substr", ["content", val(1), val(MAX_UNREAD.length)]).as("content"),
    )
    .where("session_id", "=", session_id)
    .where("role", "=", "user")
    .where("seq", ">", 1)
    .orderBy("seq", "desc")
    .limit(MAX_UNREAD.messages)
    .execute();
  return rows.toReversed();
};
