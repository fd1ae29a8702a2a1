import { RepriseError } from "../../../core/errors.ts";
import { isFinal } from "../../../core/exchanges.ts";
import { isDelegated } from "../../../core/session-tree.ts";
import type { ExchangeFailure, ExchangeRecord } from "../../../core/sessions.ts";
import { revokeDeadLease } from "../leases/revoke.ts";
import { continueAbove } from "../questions/continue.ts";
import { delegationOf, pathTo, lockPath } from "../questions/tree.ts";
import { withdrawQuestions } from "../questions/withdraw.ts";
import { lockSession } from "../sessions/lock.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../../store.ts";
import { type HeldQueue, holdQueue } from "./held-queue.ts";
import { BEGUN_FIRST, type QueuedReference, refreshReady } from "./ready.ts";
import { readRecord } from "./read.ts";
import { endColumns } from "./end-columns.ts";
import { askToStop } from "./stop-asked.ts";

export interface ExchangeReference {
  /** An id or a prefix of 6 or more characters. */
  readonly reference: string;
  readonly n: number;
}

/**
 * Stops an exchange. One that is queued, waits for a person, or was interrupted, has ended with this.
 * One that runs is asked to: its process stops it as soon as it learns of it, and keeps the text
 * that had arrived.
 *
 * Error codes: as `readExchange`, `exchange_ended`.
 */
export const stopExchange: Operation<ExchangeReference, ExchangeRecord> = async (tx, input) => {
  const { held, record } = await holdExchange(tx, input);
  if (isFinal(record.state)) {
    throw nothingToStop("The exchange has ended already, so there is nothing to stop.");
  }
  return stopHeld(tx, held, input.n);
};

/**
 * Stops what a session does now: the exchange that has begun, or else the first one that is queued.
 *
 * Error codes: as `resolveSession`, `exchange_ended`.
 */
export const stopCurrent: Operation<{ readonly reference: string }, ExchangeRecord> = async (
  tx,
  input,
) => {
  const { id } = await resolveSession(tx, input);
  await lockPath(tx, id);
  const held = await holdQueue(tx, { id });
  const n = held.begun?.n ?? (await firstQueued(tx, id));
  if (n === null) {
    throw nothingToStop("No exchange is queued or running in this session.");
  }
  return stopHeld(tx, held, n);
};

async function firstQueued(tx: Tx, session_id: string): Promise<number | null> {
  const row = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .orderBy(BEGUN_FIRST)
    .orderBy("n")
    .limit(1)
    .executeTakeFirst();
  return row?.n ?? null;
}

async function stopHeld(tx: Tx, held: HeldQueue, n: number): Promise<ExchangeRecord> {
  const { id, begun } = held;
  const isRunning = begun?.n === n && begun.state === "running";
  if (isRunning && begun.isLive) {
    await askToStop(tx, { id, n });
  } else {
    if (isRunning) {
      await revokeDeadLease(tx, id);
    }
    const stopped = await tx.db
      .updateTable("exchanges")
      .set((eb) => ({ ...endColumns(eb, tx.dialect), state: "stopped" }))
      .where("session_id", "=", id)
      .where("n", "=", n)
      .where("ended_at", "is", null)
      .returning("begun_at")
      .executeTakeFirst();
    if (typeof stopped?.begun_at === "string") {
      await withdrawQuestions(tx, id, { isSuperseded: isDelegated(held) });
      await leaveToParent(tx, held);
    }
    await refreshReady(tx, id);
  }
  return readRecord(tx, id, n);
}

/** A sub-agent that was stopped is not continued: its parent is, with what it has left. */
async function leaveToParent(
  tx: Tx,
  held: Pick<HeldQueue, "id" | "parent_call_id">,
): Promise<void> {
  const { id } = held;
  if (isDelegated(held)) {
    await tx.db.updateTable("sessions").set({ exchange_open: 0 }).where("id", "=", id).execute();
    await continueAbove(tx, await delegationOf(tx, await pathTo(tx, id, null)));
  }
}

function nothingToStop(sentence: string): RepriseError {
  return new RepriseError("exchange_ended", sentence);
}

export interface QueuedChange extends ExchangeReference {
  /** The record as the caller knows it; if it has changed since, nothing happens. */
  readonly revision?: number | undefined;
}

/**
 * Changes the message of an exchange that has not begun.
 *
 * Error codes: as `readExchange`, `exchange_begun`, `exchange_changed`.
 */
export const changeQueued: Operation<
  QueuedChange & { readonly content: string },
  ExchangeRecord
> = async (tx, input) => {
  const { id } = await holdQueued(tx, input);
  await tx.db
    .updateTable("exchanges")
    .set((eb) => ({ content: input.content, revision: eb("revision", "+", 1) }))
    .where("session_id", "=", id)
    .where("n", "=", input.n)
    .where("state", "=", "queued")
    .execute();
  tx.touch(id);
  return readRecord(tx, id, input.n);
};

/** Takes back an exchange that has not begun. Error codes: as `changeQueued`. */
export const withdrawQueued: Operation<QueuedChange, ExchangeRecord> = async (tx, input) =>
  stopHeld(tx, await holdQueued(tx, input), input.n);

async function holdQueued(tx: Tx, input: QueuedChange): Promise<HeldQueue> {
  const { held, record } = await holdExchange(tx, input);
  if (record.state !== "queued" || record.begun_at !== null) {
    throw new RepriseError(
      "exchange_begun",
      "The exchange has begun or ended, so it cannot be changed or withdrawn. Stop it, or send another message.",
    );
  }
  if (input.revision !== undefined && input.revision !== record.revision) {
    throw new RepriseError(
      "exchange_changed",
      "The exchange was changed since it was read. Read it again, and repeat the request with its revision.",
    );
  }
  return held;
}

/** Holds the rows of the session and of those above it until the transaction ends. */
async function holdExchange(tx: Tx, { reference, n }: ExchangeReference) {
  const { id } = await resolveSession(tx, { reference });
  await lockPath(tx, id);
  const held = await holdQueue(tx, { id });
  return { held, record: await readRecord(tx, id, n) };
}

/** Ends a queued exchange that cannot begin; nothing if it was changed since it was read. */
export const failQueued: Operation<
  QueuedReference & { readonly failure: ExchangeFailure },
  void
> = async (tx, { session_id, n, revision, failure }) => {
  await lockSession(tx, session_id);
  await tx.db
    .updateTable("exchanges")
    .set((eb) => ({
      ...endColumns(eb, tx.dialect),
      state: "failed",
      error_code: failure.code,
      error_sentence: failure.sentence,
      resets_at: failure.resets_at ?? null,
    }))
    .where("session_id", "=", session_id)
    .where("n", "=", n)
    .where("revision", "=", revision)
    .where("state", "=", "queued")
    .execute();
  await refreshReady(tx, session_id);
};
