import { sql } from "kysely";

import { MAX_ATTEMPTS } from "../../core/exchanges.ts";
import { isLeaseDead, revokeDeadLease } from "../leases/revoke.ts";
import { withdrawQuestions } from "../questions/withdraw.ts";
import { failureColumns } from "../sessions/failures.ts";
import { lockSession } from "../sessions/lock.ts";
import type { Operation, Tx } from "../store.ts";
import { refreshReady } from "./ready.ts";
import { endColumns } from "./end-columns.ts";
import { SESSION_ENDED, stopAllRecords, stopRecords } from "./records.ts";
import { isUnrecorded, recordUnrecorded } from "./unrecorded.ts";

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
    .where("state", "in", DEAD)
    .execute();
  if (end?.state === "stopped") {
    await withdrawQuestions(tx, id, { isSuperseded: false });
  }
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
  sentence: `The exchange ended ${MAX_ATTEMPTS} processes before it was done, so it is not tried again. Continue it to try once more.`,
} as const;

/** The second one: its lease was taken since, to compact the thread for example. */
const DEAD = ["running", "interrupted"] as const;

function openExchanges(tx: Tx) {
  return (
    tx.db
      .selectFrom("sessions")
      .innerJoin("exchanges", (join) =>
        join
          .onRef("exchanges.session_id", "=", "sessions.id")
          .onRef("exchanges.epoch", "=", "sessions.lease_epoch")
          .on("exchanges.ended_at", "is", null)
          .on("exchanges.state", "in", DEAD),
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

/**
 * Sessions with a queued exchange that no node would run: a version that knows no queue ended the
 * exchange before it or the session, or left one unfinished, or a process died while it had the lease.
 */
export const findUnready: Operation<null, readonly string[]> = async (tx) => {
  const rows = await unready(tx).execute();
  return [...new Set(rows.map(({ id }) => id))];
};

/** Lets the nodes find it, or stops it in a session that was ended, unless somebody else did so first. */
export const makeReady: Operation<{ readonly id: string }, void> = async (tx, { id }) => {
  await lockSession(tx, id);
  const row = await unready(tx).where("sessions.id", "=", id).executeTakeFirst();
  if (row === undefined) {
    return;
  }
  if (row.state === "ended") {
    await stopAllRecords(tx, [id], SESSION_ENDED);
  } else if (row.exchange_open === 0) {
    // the older version has finished it
    await stopRecords(tx, [id], null);
  } else if (await recordUnrecorded(tx, id, "interrupted")) {
    await tx.db
      .updateTable("sessions")
      .set((eb) => ({ exchange_count: eb("exchange_count", "+", 1) }))
      .where("id", "=", id)
      .execute();
  }
  await refreshReady(tx, id);
};

function unready(tx: Tx) {
  return tx.db
    .selectFrom("exchanges")
    .innerJoin("sessions", "sessions.id", "exchanges.session_id")
    .select(["sessions.id", "sessions.state", "exchange_open"])
    .where("exchanges.ended_at", "is", null)
    .where("exchanges.state", "=", "queued")
    .where(({ or, eb }) => or([eb("ready_at", "is", null), isUnrecorded()]))
    .where("parent_session_id", "is", null)
    .where(({ eb, or }) =>
      or([
        eb("lease_owner", "is", null),
        eb("lease_expires_at", "is", null),
        eb("lease_expires_at", "<=", tx.dialect.now()),
      ]),
    )
    .where(({ eb, or, not, exists, selectFrom }) =>
      or([
        eb("exchange_open", "=", 0),
        not(
          exists(
            selectFrom("exchanges as begun")
              .select("begun.n")
              .whereRef("begun.session_id", "=", "sessions.id")
              .where("begun.ended_at", "is", null)
              .where("begun.state", "!=", "queued"),
          ),
        ),
      ]),
    );
}
