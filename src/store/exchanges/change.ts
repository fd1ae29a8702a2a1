import { RepriseError } from "../../core/errors.ts";
import { isFinal } from "../../core/exchanges.ts";
import type { ExchangeFailure, ExchangeRecord } from "../../core/sessions.ts";
import { revokeDeadLease } from "../leases/revoke.ts";
import { lockSession } from "../sessions/lock.ts";
import { resolveSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../store.ts";
import { type QueuedReference, refreshReady } from "./ready.ts";
import { readRecord } from "./read.ts";
import { endColumns } from "./records.ts";

export interface ExchangeReference {
  /** An id or a prefix of 6 or more characters. */
  readonly reference: string;
  readonly n: number;
}

/**
 * Stops an exchange. One that waits in line or for a person, or was interrupted, has ended with this.
 * One that runs is asked to: its process stops it as soon as it learns of it, and keeps the text
 * that had arrived.
 *
 * Error codes: as `readExchange`, `exchange_ended`.
 */
export const stopExchange: Operation<ExchangeReference, ExchangeRecord> = async (tx, input) => {
  const { id, record } = await holdExchange(tx, input);
  if (isFinal(record.state)) {
    throw nothingToStop();
  }
  if (record.state === "interrupted") {
    await revokeDeadLease(tx, id);
  }
  const changed = tx.db
    .updateTable("exchanges")
    .where("session_id", "=", id)
    .where("n", "=", input.n)
    .where("ended_at", "is", null);
  await (record.state === "running"
    ? changed
        .set((eb) => ({ stop_asked_at: tx.dialect.now(), revision: eb("revision", "+", 1) }))
        .where("stop_asked_at", "is", null)
        .execute()
    : changed.set((eb) => ({ ...endColumns(eb, tx.dialect), state: "stopped" })).execute());
  await refreshReady(tx, id);
  return readRecord(tx, id, input.n);
};

export function nothingToStop(): RepriseError {
  return new RepriseError(
    "exchange_ended",
    "The exchange has ended already, so there is nothing to stop.",
  );
}

/**
 * Changes the message of an exchange that has not begun.
 *
 * Error codes: as `readExchange`, `exchange_begun`.
 */
export const changeQueued: Operation<
  ExchangeReference & { readonly content: string },
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
export const withdrawQueued: Operation<ExchangeReference, ExchangeRecord> = async (tx, input) => {
  await holdQueued(tx, input);
  return stopExchange(tx, input);
};

async function holdQueued(tx: Tx, input: ExchangeReference) {
  const held = await holdExchange(tx, input);
  if (held.record.state !== "queued" || held.record.begun_at !== null) {
    throw new RepriseError(
      "exchange_begun",
      "The exchange has begun already, so it cannot be changed or withdrawn; stop it, or send another message.",
    );
  }
  return held;
}

/** Holds the session's row until the transaction ends. */
async function holdExchange(tx: Tx, { reference, n }: ExchangeReference) {
  const { id } = await resolveSession(tx, { reference });
  await lockSession(tx, id);
  return { id, record: await readRecord(tx, id, n) };
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
    }))
    .where("session_id", "=", session_id)
    .where("n", "=", n)
    .where("revision", "=", revision)
    .where("state", "=", "queued")
    .execute();
  await refreshReady(tx, session_id);
};
