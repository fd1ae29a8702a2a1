import { sql } from "kysely";

import { MAX_ATTEMPTS } from "../../core/exchanges.ts";
import { isLeaseDead, revokeDeadLease } from "../leases/revoke.ts";
import { failureColumns } from "../sessions/failures.ts";
import { lockSession } from "../sessions/lock.ts";
import type { Operation, Tx } from "../store.ts";
import { refreshReady } from "./ready.ts";
import { endColumns } from "./records.ts";

/** Sessions in which the process that ran an exchange of the service is dead. */
export const findDead: Operation<null, readonly string[]> = async (tx) => {
  const rows = await openExchanges(tx).execute();
  return rows.filter(isLeaseDead).map(({ id }) => id);
};

/**
 * Queues the exchange of such a session again. One that somebody has asked to stop is stopped, and one
 * that has taken `MAX_ATTEMPTS` processes with it has failed. Nothing happens if its process turned
 * out to be alive, or somebody else was first.
 */
export const reviveDead: Operation<{ readonly id: string }, void> = async (tx, { id }) => {
  await lockSession(tx, id);
  const row = await openExchanges(tx).where("sessions.id", "=", id).executeTakeFirst();
  if (row === undefined || !isLeaseDead(row)) {
    return;
  }
  await revokeDeadLease(tx, id);
  const attempts = row.attempts + 1;
  const end = endOf(row.stop_asked_at !== null, attempts);
  await tx.db
    .updateTable("exchanges")
    .set((eb) =>
      end === null
        ? { state: "queued", attempts, revision: eb("revision", "+", 1) }
        : { ...endColumns(eb, tx.dialect), ...end, attempts },
    )
    .where("session_id", "=", id)
    .where("n", "=", row.n)
    .where("state", "=", "running")
    .execute();
  if (end?.state === "failed") {
    await tx.db
      .updateTable("sessions")
      .set(failureColumns(USED_UP, row.epoch))
      .where("id", "=", id)
      .execute();
  }
  await refreshReady(tx, id);
};

/** What becomes of the exchange; null if it is queued again. */
function endOf(isStopAsked: boolean, attempts: number) {
  if (isStopAsked) {
    return { state: "stopped" } as const;
  }
  return attempts < MAX_ATTEMPTS
    ? null
    : ({ state: "failed", error_code: USED_UP.code, error_sentence: USED_UP.sentence } as const);
}

const USED_UP = {
  code: "attempts_used_up",
  sentence: `The exchange ended ${MAX_ATTEMPTS} processes before it was done, so it is not tried again; continue it to try once more.`,
} as const;

function openExchanges(tx: Tx) {
  return (
    tx.db
      .selectFrom("sessions")
      .innerJoin("exchanges", (join) =>
        join
          .onRef("exchanges.session_id", "=", "sessions.id")
          .onRef("exchanges.epoch", "=", "sessions.lease_epoch")
          .on("exchanges.state", "=", "running"),
      )
      .select(({ eb }) => [
        "sessions.id",
        "sessions.lease_owner",
        "sessions.lease_epoch as epoch",
        "exchanges.n",
        "exchanges.attempts",
        "exchanges.stop_asked_at",
        eb("lease_expires_at", ">", tx.dialect.now()).as("is_held"),
      ])
      // the same expression as in the index, so that it is used
      .where("exchange_open", "=", sql<number>`1`)
      .where("sessions.state", "=", "active")
      // a node ran it; what a terminal ran waits for a person
      .where("queued_at", "is not", null)
  );
}
