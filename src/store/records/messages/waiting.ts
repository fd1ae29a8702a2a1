import { type ExpressionBuilder, sql } from "kysely";

import { type AdmissionChoice, readAdmissionCallId } from "../../../core/questions.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { ChangedField, Database } from "../../tables/database.ts";
import type { Operation, Tx } from "../../store.ts";
import { recordConsent } from "../sessions/consents.ts";
import { lockSession } from "../sessions/lock.ts";
import { type Principal, consenterOf } from "../../../core/principal.ts";

/** The fields of a session that its exchanges use. */
export type ChoiceField = Exclude<ChangedField, "title">;

export const CHOICE_FIELDS = ["model", "persona_name", "repo_path"] as const;

export interface WaitingMessage {
  readonly seq: number;
  readonly ts: string;
  /** The first `WAITING_CHARACTERS` of it. */
  readonly beginning: string;
  /** Code points of the whole. */
  readonly length: number;
}

export interface WaitingMessages {
  /** Ascending by `seq`, `WAITING_MESSAGES` at most. */
  readonly messages: readonly WaitingMessage[];
  /** How many there are in all. */
  readonly count: number;
}

export type Choices = Readonly<Partial<Record<ChoiceField, string>>>;

/** Messages and settings that came over HTTP and that no exchange has handed to the agent yet. */
export interface Waiting {
  /** Model, persona and folder that a caller without authentication set and nobody accepted. */
  readonly choices: Choices;
  /** Settings that a caller with the token set and no person was shown yet. */
  readonly unseen: Choices;
  /** The last change that `choices` and `unseen` know of. */
  readonly through_change: number;
  /** Messages that the next exchange hands over. */
  readonly accepted: WaitingMessages;
  /** Messages of callers without authentication that nobody accepted or rejected. */
  readonly unaccepted: WaitingMessages;
}

export const WAITING_MESSAGES = 20;
export const WAITING_CHARACTERS = 4000;

const NONE: WaitingMessages = { messages: [], count: 0 };

/** As `readWaiting` returns it for a session in which nothing waits. */
export const NOTHING_WAITS: Waiting = {
  choices: {},
  unseen: {},
  through_change: 0,
  accepted: NONE,
  unaccepted: NONE,
};

/** Error codes: none; a session that does not exist has nothing that waits. */
export const readWaiting: Operation<{ readonly session_id: string }, Waiting> = async (
  tx,
  { session_id },
) => ({
  ...(await choicesOf(tx, session_id)),
  accepted: await waitingMessages(tx, session_id, true),
  unaccepted: await waitingMessages(tx, session_id, false),
});

/** Messages of callers without authentication that nobody accepted or rejected. */
export const readUnaccepted: Operation<{ readonly session_id: string }, WaitingMessages> = (
  tx,
  { session_id },
) => waitingMessages(tx, session_id, false);

async function waitingMessages(
  tx: Tx,
  session_id: string,
  accepted: boolean,
): Promise<WaitingMessages> {
  const [any] = await tx.rows(anyWaiting, { session_id, is_accepted: accepted ? 1 : 0 });
  if (any === undefined) {
    return NONE;
  }
  const rejected = accepted ? 0 : await rejectedThrough(tx, session_id);
  const pending = tx.db
    .selectFrom("messages")
    .where("session_id", "=", session_id)
    .where(isFromOutside)
    .where("seq", ">", rejected)
    .where(IS_ACCEPTED, "=", accepted ? 1 : 0);
  const messages = await pending
    .select([
      "seq",
      "ts",
      sql<string>`substr(content, 1, ${sql.lit(WAITING_CHARACTERS)})`.as("beginning"),
      sql<number>`length(content)`.as("length"),
    ])
    .orderBy("seq")
    .limit(WAITING_MESSAGES)
    .execute();
  if (messages.length < WAITING_MESSAGES) {
    return { messages, count: messages.length };
  }
  const { count } = await pending
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return { messages, count };
}

/** True for a message of HTTP that no exchange has handed to the agent. */
export function isFromOutside({ and }: ExpressionBuilder<Database, "messages">) {
  return and({ checkpointed: 0, archived: 0, role: "user", origin: "http" });
}

const IS_ACCEPTED = sql<number>`case when messages.authenticated = 1 or messages.accepted_at is not null then 1 else 0 end`;

/** Most exchanges find nothing that waits: then this is all that they ask. */
const anyWaiting = prepared(
  ({ db }, given: Parameter<{ readonly session_id: string; readonly is_accepted: number }>) =>
    db
      .selectFrom("messages")
      .select("seq")
      .where("session_id", "=", given("session_id"))
      .where(isFromOutside)
      .where(IS_ACCEPTED, "=", given("is_accepted"))
      .limit(1),
);

/** Model, persona and folder that came over HTTP, and that no person has confirmed or seen. */
export async function choicesOf(
  tx: Tx,
  session_id: string,
): Promise<Pick<Waiting, "choices" | "unseen" | "through_change">> {
  const session = await tx.db
    .selectFrom("sessions")
    .select([...CHOICE_FIELDS, "origin", "authenticated", "accepted_at"])
    .where("id", "=", session_id)
    .executeTakeFirst();
  const changes = await tx.db
    .selectFrom("session_changes")
    .select(["number", "field", "value", "origin", "authenticated", "accepted_at"])
    .where("session_id", "=", session_id)
    .orderBy("number")
    .execute();
  const choices: Partial<Record<ChoiceField, string>> = {};
  const unseen: Partial<Record<ChoiceField, string>> = {};
  for (const field of CHOICE_FIELDS) {
    const value = session?.[field] ?? null;
    const change = changes.findLast((each) => each.field === field && each.value === value);
    const source = change ?? session;
    if (value === null || source === undefined || source.accepted_at !== null) {
      continue;
    }
    if (source.authenticated === 0) {
      choices[field] = value;
    } else if (source.origin === "http") {
      unseen[field] = value;
    }
  }
  return { choices, unseen, through_change: changes.at(-1)?.number ?? 0 };
}

export interface AcceptMessages {
  readonly session_id: string;
  /** Messages after this one came later than what was shown. */
  readonly through_seq: number;
  readonly principal?: Principal | undefined;
}

/**
 * Lets the next exchange hand over messages that came without authentication and were not rejected. A question
 * about them needs no answer any more.
 */
export const acceptMessages: Operation<AcceptMessages, void> = async (tx, input) => {
  const { session_id, through_seq, principal } = input;
  await lockSession(tx, session_id);
  await recordConsent(tx, {
    session_id,
    kind: "messages",
    subject: String(through_seq),
    who: consenterOf(principal),
  });
  await tx.db
    .updateTable("messages")
    .set({ accepted_at: tx.dialect.now() })
    .where(({ and }) => and({ session_id, authenticated: 0, checkpointed: 0, archived: 0 }))
    .where("seq", "<=", through_seq)
    .where("seq", ">", await rejectedThrough(tx, session_id))
    .where("accepted_at", "is", null)
    .execute();
  await tx.db
    .updateTable("questions")
    .set({ state: "withdrawn" })
    .where(({ and }) => and({ session_id, kind: "messages", state: "open" }))
    .execute();
  tx.touch(session_id);
};

const NO: AdmissionChoice = "no";

/** Returns the `seq` up to which messages were rejected: the answer to their question was a no. */
async function rejectedThrough(tx: Tx, session_id: string): Promise<number> {
  const rejected = await tx.db
    .selectFrom("questions")
    .select("call_id")
    .where(({ and }) => and({ session_id, kind: "messages", answer: NO }))
    .execute();
  return Math.max(0, ...rejected.map(({ call_id }) => readAdmissionCallId(call_id)));
}

export interface AcceptChoices {
  readonly session_id: string;
  readonly through_change: number;
  readonly principal?: Principal | undefined;
}

/** Lets exchanges use a model, persona and folder that were set without authentication. */
export const acceptChoices: Operation<AcceptChoices, void> = async (tx, input) => {
  await markChoices(tx, { ...input, authenticated: 0 });
  const { session_id, through_change, principal } = input;
  await recordConsent(tx, {
    session_id,
    kind: "settings",
    subject: String(through_change),
    who: consenterOf(principal),
  });
};

/** Keeps that a person was shown the model, persona and folder that were set with the token. */
export const markSeen: Operation<AcceptChoices, void> = (tx, input) =>
  markChoices(tx, { ...input, authenticated: 1 });

async function markChoices(
  tx: Tx,
  input: AcceptChoices & { readonly authenticated: 0 | 1 },
): Promise<void> {
  const { session_id, through_change, authenticated } = input;
  await lockSession(tx, session_id);
  const accepted = { accepted_at: tx.dialect.now() };
  await tx.db
    .updateTable("sessions")
    .set(accepted)
    .where(({ and }) => and({ id: session_id, origin: "http", authenticated }))
    .where("accepted_at", "is", null)
    .execute();
  await tx.db
    .updateTable("session_changes")
    .set(accepted)
    .where(({ and }) => and({ session_id, origin: "http", authenticated }))
    .where("number", "<=", through_change)
    .where("accepted_at", "is", null)
    .execute();
}
