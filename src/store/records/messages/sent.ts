import { sql } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import type { Operation } from "../../store.ts";

/** A message of a person. */
export interface SentMessage {
  readonly seq: number;
  readonly ts: string;
  /** Its beginning. */
  readonly text: string;
}

/** Characters of the beginning. */
const BEGINNING = 400;

/** Messages of persons that are not archived, the newest first, with the beginning of each. */
export const listSentMessages: Operation<
  { readonly session_id: string; readonly limit: number },
  readonly SentMessage[]
> = ({ db }, { session_id, limit }) =>
  db
    .selectFrom("messages")
    .select(["seq", "ts", sql<string>`substr(content, 1, ${sql.lit(BEGINNING)})`.as("text")])
    .where("session_id", "=", session_id)
    .where("role", "=", "user")
    .where("is_summary", "=", 0)
    .where("archived", "=", 0)
    .orderBy("seq", "desc")
    .limit(limit)
    .execute();

/** Reads such a message with all of its text. Error codes: `invalid_usage` for a message of somebody else, or none. */
export const readSentMessage: Operation<
  { readonly session_id: string; readonly seq: number },
  SentMessage
> = async ({ db }, { session_id, seq }) => {
  const row = await db
    .selectFrom("messages")
    .select(["seq", "ts", "content as text"])
    .where("session_id", "=", session_id)
    .where("seq", "=", seq)
    .where("role", "=", "user")
    .where("is_summary", "=", 0)
    .executeTakeFirst();
  if (row === undefined) {
    throw new RepriseError(
      "invalid_usage",
      `Message ${seq} is none of yours. Write /rewind alone to choose one of your messages.`,
    );
  }
  return row;
};
