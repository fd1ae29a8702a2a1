import { RepriseError } from "../../../core/errors.ts";
import { newId, parseSessionReference } from "../../../core/ids.ts";
import { type Origin, type Principal, isOwner } from "../../../core/principal.ts";
import type { Message, Session } from "../../../core/sessions.ts";
import { estimateTokens, titleOf } from "../../../core/text/text.ts";
import { refuseEnded, sessionEnded } from "../sessions/change.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import { messageHint } from "../../hints.ts";
import { lockSession } from "../sessions/lock.ts";
import { readSession, resolveSession } from "../sessions/read.ts";
import { sessionColumns, sessionOf } from "../sessions/rows.ts";
import type { Operation, Tx } from "../../store.ts";
import { messageOf, selectMessages } from "./rows.ts";

export interface AppendInput {
  /** An id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** 1 character to 1 MiB of storable text; the edge has checked it. */
  readonly content: string;
  /** A retry with the same key finds the message that the first attempt stored. */
  readonly idempotency_key?: string;
  /** Who sends it; unknown callers count as authenticated. */
  readonly principal?: Principal;
}

export interface Appended {
  readonly session: Session;
  readonly message: Message;
}

/**
 * Appends a user message: `seq` is given out, the title set if it is the first user message,
 * `last_message_at` moved and the token total raised by the message's estimate, all in one
 * transaction. The message is pending: the next exchange hands it to the agent (if the caller was
 * not authenticated: once it was accepted), and the provider's own count then takes the
 * estimate's place.
 *
 * Error codes: as `resolveSession`, `session_ended`, `idempotency_key_reused`.
 */
export const appendUserMessage: Operation<AppendInput, Appended> = async (tx, input) => {
  const { reference, content, idempotency_key = null, principal } = input;
  const parsed = parseSessionReference(reference);
  if (parsed.kind === "id" && idempotency_key === null) {
    // no read is needed first: the counter finds the session, and refuses one that has ended
    return appendMessage(tx, { session_id: parsed.id, content, idempotency_key, principal });
  }
  const session = await resolveSession(tx, { reference });
  if (idempotency_key !== null) {
    // two attempts side by side take turns from here, so that the second finds the first
    await lockSession(tx, session.id);
  }
  const earlier = await findEarlierAttempt(tx, session.id, input);
  if (earlier !== null) {
    return { session, message: earlier };
  }
  refuseEnded(session);
  return appendMessage(tx, { session_id: session.id, content, idempotency_key, principal });
};

async function appendMessage(tx: Tx, input: NewMessage): Promise<Appended> {
  const appended = await insertMessage(tx, input);
  tx.touch(messageHint(input.session_id));
  return appended;
}

async function findEarlierAttempt(
  tx: Tx,
  sessionId: string,
  input: AppendInput,
): Promise<Message | null> {
  if (input.idempotency_key === undefined) {
    return null;
  }
  const row = await selectMessages(tx, sessionId)
    .where("idempotency_key", "=", input.idempotency_key)
    .executeTakeFirst();
  if (row === undefined) {
    return null;
  }
  if (row.content !== input.content) {
    throw new RepriseError(
      "idempotency_key_reused",
      "This Idempotency-Key was used for another message of the session; use a fresh key for a new message.",
    );
  }
  return messageOf(row);
}

interface NewMessage {
  readonly session_id: string;
  /** A new one if none is given. */
  readonly message_id?: string;
  readonly content: string;
  readonly idempotency_key: string | null;
  readonly principal: Principal | undefined;
}

/** Stores it in a session that is not ended, and touches nothing. Error codes: `session_not_found`, `session_ended`. */
export async function insertMessage(tx: Tx, input: NewMessage): Promise<Appended> {
  const { session_id, message_id = newId(), content, idempotency_key, principal } = input;
  const token_count = estimateTokens(content);
  const counted = await takeSeq(tx, { session_id, token_count });
  const session = counted.title === null ? await setTitle(tx, counted, content) : counted;
  const message: Message = {
    session_id,
    seq: session.last_seq,
    message_id,
    role: "user",
    content,
    tool_calls: null,
    call_id: null,
    status: null,
    token_count,
    is_summary: false,
    archived: false,
    // not asked of the clock once more: the message's time and the session's are the same moment
    ts: session.last_message_at ?? session.created_at,
  };
  await tx.rows(insertUserMessage, {
    ...message,
    idempotency_key,
    origin: principal?.origin ?? null,
    authenticated: isOwner(principal) ? 1 : 0,
  });
  return { session, message };
}

interface UserRow extends Omit<Message, "tool_calls" | "call_id" | "status"> {
  readonly idempotency_key: string | null;
  readonly origin: Origin | null;
  readonly authenticated: number;
}

const insertUserMessage = prepared(({ db }, given: Parameter<UserRow>) =>
  db.insertInto("messages").values({
    session_id: given("session_id"),
    seq: given("seq"),
    message_id: given("message_id"),
    role: given("role"),
    content: given("content"),
    token_count: given("token_count"),
    idempotency_key: given("idempotency_key"),
    ts: given("ts"),
    origin: given("origin"),
    authenticated: given("authenticated"),
  }),
);

interface Counted {
  readonly session_id: string;
  readonly token_count: number;
}

/**
 * Gives out the next position, and the session as it then is. The counter on the session's row
 * and not `max(seq) + 1`: on PostgreSQL the row's lock makes positions contiguous in the order
 * of commits.
 */
async function takeSeq(tx: Tx, input: Counted): Promise<Session> {
  const [row] = await tx.rows(raiseCounter, input);
  if (row === undefined) {
    // on PostgreSQL, another transaction may also have ended or deleted it since it was read
    const { state } = await readSession(tx, { id: input.session_id });
    if (state === "active") {
      // a sync stored it again while this waited for the row of before
      return takeSeq(tx, input);
    }
    throw sessionEnded();
  }
  return sessionOf(row);
}

const raiseCounter = prepared(({ db, dialect }, given: Parameter<Counted>) =>
  db
    .updateTable("sessions")
    .set((eb) => ({
      last_seq: eb("last_seq", "+", 1),
      last_message_at: dialect.now(),
      total_input_tokens: eb("total_input_tokens", "+", given("token_count")),
      ...dialect.changeNumber,
    }))
    .where("id", "=", given("session_id"))
    .where("state", "=", "active")
    .returning(sessionColumns({ dialect })),
);

/**
 * A separate statement for the first message alone: SQLite would write the index of titles again with
 * each message. The row is held, so nobody else sets the title meanwhile.
 */
async function setTitle(tx: Tx, session: Session, content: string): Promise<Session> {
  const title = titleOf(content);
  await tx.rows(updateTitle, { session_id: session.id, title });
  return { ...session, title };
}

const updateTitle = prepared(
  ({ db }, given: Parameter<{ readonly session_id: string; readonly title: string }>) =>
    db
      .updateTable("sessions")
      .set({ title: given("title") })
      .where("id", "=", given("session_id")),
);
