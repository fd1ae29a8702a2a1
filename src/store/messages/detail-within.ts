import { sql } from "kysely";

import { MESSAGES_PER_READ } from "../../core/limits.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../store.ts";
import type { Detail, DetailInput } from "./read.ts";
import { messageOf, selectMessages } from "./rows.ts";
import { rowsThatFit } from "./stream-page.ts";

export interface DetailWithinInput extends DetailInput {
  /** Bytes of content and tool calls; the last message may be larger and then comes alone. */
  readonly max_bytes: number;
}

/**
 * A session and its last messages, as many as fit: 200 messages of 1 MiB would be an answer that
 * no client can read. Error codes: as `resolveSession`.
 */
export const readDetailWithin: Operation<DetailWithinInput, Detail> = async (tx, input) => {
  const session = await resolveSession(tx, { reference: input.reference });
  const sizes = await sizesBefore(tx, { ...input, session_id: session.id });
  const fitting = rowsThatFit(
    sizes.map(({ bytes }) => bytes),
    { max_rows: MESSAGES_PER_READ, max_bytes: input.max_bytes },
  );
  const last = sizes[0];
  const first = sizes[fitting - 1];
  if (first === undefined || last === undefined) {
    return { session, messages: [], has_earlier: false };
  }
  let query = selectMessages(tx, session.id)
    .where("seq", ">=", first.seq)
    .where("seq", "<=", last.seq)
    .orderBy("seq");
  if (!input.all) {
    query = query.where("archived", "=", 0);
  }
  const messages = (await query.execute()).map(messageOf);
  return { session, messages, has_earlier: sizes.length > fitting };
};

/** Sizes come first, from the last message backwards: the rows are read once it is known how many. */
async function sizesBefore(
  tx: Tx,
  input: DetailWithinInput & { readonly session_id: string },
): Promise<readonly { readonly seq: number; readonly bytes: number }[]> {
  let query = tx.db
    .selectFrom("messages")
    .select([
      "seq",
      sql<number>`octet_length(content) + coalesce(octet_length(tool_calls), 0)`.as("bytes"),
    ])
    .where("session_id", "=", input.session_id)
    .orderBy("seq", "desc")
    .limit(MESSAGES_PER_READ + 1);
  if (!input.all) {
    query = query.where("archived", "=", 0);
  }
  if (input.before_seq !== undefined) {
    query = query.where("seq", "<", input.before_seq);
  }
  return query.execute();
}
