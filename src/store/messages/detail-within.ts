import { MESSAGES_PER_READ } from "../../core/limits.ts";
import { type Given, prepared } from "../prepared.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation } from "../store.ts";
import type { Detail, DetailInput } from "./read.ts";
import { messageOf, selectMessages } from "./rows.ts";
import { messageBytes, rowsThatFit } from "./stream-page.ts";

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
  const sizes = await tx.rows(sizesBefore, {
    session_id: session.id,
    rows: MESSAGES_PER_READ + 1,
    before_seq: input.before_seq,
    archived: input.all ? undefined : 0,
  });
  const fitting = rowsThatFit(
    sizes.map(({ bytes }) => bytes),
    { max_rows: MESSAGES_PER_READ, max_bytes: input.max_bytes },
  );
  const last = sizes[0];
  const first = sizes[fitting - 1];
  if (first === undefined || last === undefined) {
    return { session, messages: [], has_earlier: false };
  }
  const rows = await tx.rows(messagesBetween, {
    session_id: session.id,
    first: first.seq,
    last: last.seq,
    archived: input.all ? undefined : 0,
  });
  const messages = rows.map(messageOf);
  return { session, messages, has_earlier: sizes.length > fitting };
};

interface BetweenValues {
  readonly session_id: string;
  readonly first: number;
  readonly last: number;
  readonly archived: number | undefined;
}

const messagesBetween = prepared(
  (parts, given: Given<BetweenValues>) => {
    const query = selectMessages(parts, given("session_id"))
      .where("seq", ">=", given("first"))
      .where("seq", "<=", given("last"))
      .orderBy("seq");
    return given.has("archived") ? query.where("archived", "=", given("archived")) : query;
  },
  ["archived"],
);

interface SizesValues {
  readonly session_id: string;
  readonly rows: number;
  readonly before_seq: number | undefined;
  readonly archived: number | undefined;
}

/** Sizes come first, from the last message backwards: the rows are read once it is known how many. */
const sizesBefore = prepared(
  ({ db }, given: Given<SizesValues>) => {
    let query = db
      .selectFrom("messages")
      .select(["seq", messageBytes()])
      .where("session_id", "=", given("session_id"))
      .orderBy("seq", "desc")
      .limit(given("rows"));
    if (given.has("archived")) {
      query = query.where("archived", "=", given("archived"));
    }
    return given.has("before_seq") ? query.where("seq", "<", given("before_seq")) : query;
  },
  ["archived", "before_seq"],
);
