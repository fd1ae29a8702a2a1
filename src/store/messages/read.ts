import { MESSAGES_PER_READ } from "../../core/limits.ts";
import type { Message, Session } from "../../core/sessions.ts";
import { type Parameter, prepared } from "../engines/prepared.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../store.ts";
import { messageOf, selectMessages } from "./rows.ts";

export interface DetailInput {
  /** An id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** True to see archived messages too. */
  readonly all: boolean;
  /** Only messages before this `seq`: reads further back. */
  readonly before_seq?: number;
}

export interface Detail {
  readonly session: Session;
  /** Ascending by `seq`, 200 at most. */
  readonly messages: readonly Message[];
  /** True if there are messages before the first one that this read would show. */
  readonly has_earlier: boolean;
}

/** A session and its last messages. Error codes: as `resolveSession`. */
export const readDetail: Operation<DetailInput, Detail> = async (tx, input) => {
  const session = await resolveSession(tx, { reference: input.reference });
  let query = selectMessages(tx, session.id)
    .orderBy("seq", "desc")
    .limit(MESSAGES_PER_READ + 1);
  if (!input.all) {
    query = query.where("archived", "=", 0);
  }
  if (input.before_seq !== undefined) {
    query = query.where("seq", "<", input.before_seq);
  }
  const rows = await query.execute();
  return {
    session,
    messages: rows.slice(0, MESSAGES_PER_READ).reverse().map(messageOf),
    has_earlier: rows.length > MESSAGES_PER_READ,
  };
};

export interface AfterInput {
  readonly session_id: string;
  readonly after_seq: number;
  readonly all: boolean;
  readonly limit: number;
}

/** Messages after a position, ascending by `seq`: what a stream sends next. */
export const readMessagesAfter: Operation<AfterInput, readonly Message[]> = async (tx, input) => {
  const rows = await tx.rows(messagesAfter, { ...input, archived: input.all ? undefined : 0 });
  return rows.map(messageOf);
};

const messagesAfter = prepared(
  (parts, given: Parameter<AfterInput & { readonly archived: number | undefined }>) => {
    const query = selectMessages(parts, given("session_id"))
      .where("seq", ">", given("after_seq"))
      .orderBy("seq")
      .limit(given("limit"));
    return given.has("archived") ? query.where("archived", "=", given("archived")) : query;
  },
  ["archived"],
);

/**
 * User messages that the next exchange hands to the agent, in order: no checkpoint holds them, and
 * their caller was authenticated or somebody accepted them.
 */
export const readPending: Operation<{ readonly session_id: string }, readonly Message[]> = async (
  tx,
  { session_id },
) => {
  const rows = await selectMessages(tx, session_id)
    .where("checkpointed", "=", 0)
    .where("archived", "=", 0)
    .where("role", "=", "user")
    .where(({ eb, or }) => or([eb("authenticated", "=", 1), eb("accepted_at", "is not", null)]))
    .orderBy("seq")
    .execute();
  return rows.map(messageOf);
};

export interface ReadPosition {
  readonly id: string;
  readonly last_seq: number;
  readonly state: Session["state"];
}

/** How far each of the sessions is: one query however many are asked about. */
export const readProgress: Operation<
  { readonly session_ids: readonly string[] },
  readonly ReadPosition[]
> = async (tx, { session_ids }) => {
  const progress: ReadPosition[] = [];
  for (const ids of chunks(session_ids)) {
    progress.push(...(await progressOf(tx, ids)));
  }
  return progress;
};

/** Far below SQLite's 32,766 and PostgreSQL's 65,535 parameters a statement. */
const IDS_PER_QUERY = 5000;

function* chunks(ids: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    yield ids.slice(start, start + IDS_PER_QUERY);
  }
}

function progressOf(tx: Tx, ids: readonly string[]): Promise<ReadPosition[]> {
  return tx.db
    .selectFrom("sessions")
    .select(["id", "last_seq", "state"])
    .where("id", "in", ids)
    .execute();
}
