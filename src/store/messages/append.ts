import { RepriseError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Message, Session } from "../../core/sessions.ts";
import { estimateTokens, titleOf } from "../../core/text.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import { refuseEnded, sessionEnded } from "../sessions/change.ts";
import { lockSession } from "../sessions/lock.ts";
import { readSession, resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../store.ts";
import { messageOf, selectMessages } from "./rows.ts";

export interface AppendInput {
  /** An id or a prefix of 6 or more characters. */
  readonly reference: string;
  /** 1 character to 1 MiB of storable text; the edge has checked it. */
  readonly content: string;
  /** A retry with the same key finds the message that the first attempt stored. */
  readonly idempotency_key?: string;
  /** Set by an exchange: refused once the lease is another's. */
  readonly fence?: Fence;
}

export interface Appended {
  readonly session: Session;
  readonly message: Message;
}

/**
 * Stores a user message behind all others: `seq` is given out, the title set if it is the first
 * user message, `last_message_at` moved and the token total raised by the message's estimate, all
 * in one transaction. The message is pending: the next exchange hands it to the agent, and the
 * provider's own count then takes the estimate's place.
 *
 * Error codes: as `resolveSession`, `session_ended`, `idempotency_key_reused`, `lease_lost`.
 */
export const appendUserMessage: Operation<AppendInput, Appended> = async (tx, input) => {
  const session = await resolveSession(tx, { reference: input.reference });
  if (input.idempotency_key !== undefined) {
    // two attempts side by side take turns from here, so that the second finds the first
    await lockSession(tx, session.id);
  }
  const earlier = await findEarlierAttempt(tx, session.id, input);
  if (earlier !== null) {
    return { session, message: earlier };
  }
  if (input.fence !== undefined) {
    await holdFence(tx, input.fence);
  }
  refuseEnded(session);
  const message_id = newId();
  const { seq, ts } = await takeSeq(tx, { session, content: input.content });
  await tx.db
    .insertInto("messages")
    .values({
      session_id: session.id,
      seq,
      message_id,
      role: "user",
      content: input.content,
      token_count: estimateTokens(input.content),
      idempotency_key: input.idempotency_key ?? null,
      ts,
    })
    .execute();
  tx.touch(session.id);
  return {
    session: await readSession(tx, { id: session.id }),
    message: messageOf(
      await selectMessages(tx, session.id).where("seq", "=", seq).executeTakeFirstOrThrow(),
    ),
  };
};

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

/**
 * Gives out the next position. The counter on the session's row and not `max(seq) + 1`: on
 * PostgreSQL the row's lock makes positions contiguous in the order of commits.
 */
async function takeSeq(
  tx: Tx,
  input: { session: Session; content: string },
): Promise<{ seq: number; ts: string }> {
  const counter = await tx.db
    .updateTable("sessions")
    .set((eb) => ({
      last_seq: eb("last_seq", "+", 1),
      last_message_at: tx.dialect.now(),
      title: eb.fn.coalesce("title", eb.val(titleOf(input.content))),
      total_input_tokens: eb("total_input_tokens", "+", estimateTokens(input.content)),
    }))
    .where("id", "=", input.session.id)
    .where("state", "=", "active")
    .returning(["last_seq", "last_activity_at"])
    .executeTakeFirst();
  if (counter === undefined) {
    // on PostgreSQL, another transaction may have ended or deleted it since it was read
    await readSession(tx, { id: input.session.id });
    throw sessionEnded();
  }
  // not asked of the clock once more: the message's time and the session's are the same moment
  return { seq: counter.last_seq, ts: counter.last_activity_at };
}
