import { sql } from "kysely";

import type { Message, SessionState } from "../../../core/sessions.ts";
import type { Operation, Tx } from "../../store.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import { sessionNotFound } from "../sessions/read.ts";
import { readMessagesAfter } from "./read.ts";

export interface StreamPageInput {
  readonly session_id: string;
  readonly after_seq: number;
  /** True to see archived messages too. */
  readonly all: boolean;
  readonly max_rows: number;
  /** Bytes of content and tool calls; one message may be larger and then comes alone. */
  readonly max_bytes: number;
  /** True for nothing rather than that one. */
  readonly or_nothing?: boolean;
}

export interface StreamPage {
  readonly messages: readonly Message[];
  /** True if there are messages after the last one that this read would show. */
  readonly more: boolean;
  /** State at the moment of the page: an ended session without `more` gets nothing after it. */
  readonly state: SessionState;
  /** Last message at the moment of the page, archived ones included. */
  readonly last_seq: number;
}

/** The next messages of a stream, as many as fit. Error codes: `session_not_found`. */
export const readStreamPage: Operation<StreamPageInput, StreamPage> = async (tx, input) => {
  const [session] = await tx.rows(sessionProgress, { id: input.session_id });
  if (session === undefined) {
    throw sessionNotFound();
  }
  const left = session.last_seq - input.after_seq;
  // a stream that is up to date gets one message at a time, which comes alone however large it is
  const page =
    left > 1 || input.or_nothing === true
      ? await readPageAfter(tx, input)
      : {
          messages: left < 1 ? [] : await readMessagesAfter(tx, { ...input, limit: 1 }),
          more: false,
        };
  return { ...page, ...session };
};

const sessionProgress = prepared(({ db }, given: Parameter<{ readonly id: string }>) =>
  db.selectFrom("sessions").select(["state", "last_seq"]).where("id", "=", given("id")),
);

/** Reads the page of a session that exists. */
export async function readPageAfter(
  tx: Tx,
  input: StreamPageInput,
): Promise<Omit<StreamPage, "state" | "last_seq">> {
  // the sizes come first: rows of 1 MiB each would be 200 MiB before anyone could count them
  const sizes = await tx.rows(sizesAfter, {
    ...input,
    rows: input.max_rows + 1,
    max_archived: Number(input.all),
  });
  const bytes = sizes.map((row) => row.bytes);
  const isTooLarge = input.or_nothing === true && (bytes[0] ?? 0) > input.max_bytes;
  const fitting = isTooLarge ? 0 : rowsThatFit(bytes, input);
  const messages = fitting === 0 ? [] : await readMessagesAfter(tx, { ...input, limit: fitting });
  return { messages, more: bytes.length > fitting };
}

const sizesAfter = prepared(
  ({ db }, given: Parameter<StreamPageInput & { rows: number; max_archived: number }>) =>
    db
      .selectFrom("messages")
      .select(messageBytes())
      .where("session_id", "=", given("session_id"))
      .where("seq", ">", given("after_seq"))
      .where("archived", "<=", given("max_archived"))
      .orderBy("seq")
      .limit(given("rows")),
);

/** Bytes of a message's content and tool calls, as a column of a query. */
export function messageBytes() {
  return sql<number>`octet_length(content) + coalesce(octet_length(tool_calls), 0)`.as("bytes");
}

/** How many rows from the first one fit; one alone may be larger than `max_bytes`. */
export function rowsThatFit(
  sizes: readonly number[],
  input: Pick<StreamPageInput, "max_rows" | "max_bytes">,
): number {
  let bytes = 0;
  for (const [index, size] of sizes.entries()) {
    bytes += size;
    if (index >= input.max_rows || (index > 0 && bytes > input.max_bytes)) {
      return index;
    }
  }
  return sizes.length;
}
