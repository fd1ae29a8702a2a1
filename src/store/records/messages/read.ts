import type { ExpressionBuilder } from "kysely";

import { MESSAGES_PER_READ } from "../../../core/limits.ts";
import type { Message, Session } from "../../../core/sessions.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { Database } from "../../tables/database.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation } from "../../store.ts";
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
  const rows = await selectMessages(tx, session.id)
    .where("seq", "<", input.before_seq ?? Number.MAX_SAFE_INTEGER)
    .where("archived", "<=", Number(input.all))
    .orderBy("seq", "desc")
    .limit(MESSAGES_PER_READ + 1)
    .execute();
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
  const rows = await tx.rows(messagesAfter, { ...input, max_archived: Number(input.all) });
  return rows.map(messageOf);
};

const messagesAfter = prepared(
  (parts, given: Parameter<AfterInput & { readonly max_archived: number }>) =>
    selectMessages(parts, given("session_id"))
      .where("seq", ">", given("after_seq"))
      .where("archived", "<=", given("max_archived"))
      .orderBy("seq")
      .limit(given("limit")),
);

/**
 * User messages that the next exchange hands to the agent, in order: no checkpoint holds them, and
 * their caller was authenticated or somebody accepted them.
 */
export const readPending: Operation<{ readonly session_id: string }, readonly Message[]> = async (
  tx,
  { session_id },
) => {
  const rows = await tx.rows(pendingMessages, { session_id });
  return rows.map(messageOf);
};

const pendingMessages = prepared((parts, given: Parameter<{ readonly session_id: string }>) =>
  selectMessages(parts, given("session_id")).where(isPending).orderBy("seq"),
);

/** True for a message that `readPending` finds. */
export function isPending({ eb, or, and }: ExpressionBuilder<Database, "messages">) {
  return and([
    eb("checkpointed", "=", 0),
    eb("archived", "=", 0),
    eb("role", "=", "user"),
    or([eb("authenticated", "=", 1), eb("accepted_at", "is not", null)]),
  ]);
}

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
  for (let start = 0; start < session_ids.length; start += IDS_PER_QUERY) {
    const ids = session_ids.slice(start, start + IDS_PER_QUERY);
    const query = tx.db.selectFrom("sessions").select(["id", "last_seq", "state"]);
    progress.push(...(await query.where("id", "in", ids).execute()));
  }
  return progress;
};

/** Far below SQLite's 32,766 and PostgreSQL's 65,535 parameters a statement. */
const IDS_PER_QUERY = 5000;
