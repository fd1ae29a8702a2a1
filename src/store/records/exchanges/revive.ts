import { type Selectable, sql } from "kysely";

import { MAX_ATTEMPTS, MAX_LOST_PROCESSES } from "../../../core/exchanges.ts";
import type { ExchangeFailure } from "../../../core/sessions.ts";
import { isLeaseDead, revokeDeadLease } from "../leases/revoke.ts";
import { withdrawQuestions } from "../questions/withdraw.ts";
import { failureColumns } from "../sessions/failures.ts";
import { lockSession } from "../sessions/lock.ts";
import type { ExchangeTable } from "../../tables/database.ts";
import type { Operation, Tx } from "../../store.ts";
import { endColumns } from "./end-columns.ts";
import { readProgress } from "./progress.ts";
import { refreshReady } from "./ready.ts";

/** Sessions in which the process that ran an exchange of the service is dead. */
export const findDead: Operation<null, readonly string[]> = async (tx) => {
  const rows = await openExchanges(tx).execute();
  return rows.filter(isLeaseDead).map(({ id }) => id);
};

/**
 * Queues the exchange of such a session again. One that somebody has asked to stop is stopped, and one
 * that has taken `MAX_ATTEMPTS` processes with it since its last progress, or `MAX_LOST_PROCESSES` in all, has failed.
 * Nothing happens if its process turned out to be alive, or somebody else was first.
 */
export const reviveDead: Operation<{ readonly id: string }, void> = async (tx, { id }) => {
  await lockSession(tx, id);
  const row = await openExchanges(tx).where("sessions.id", "=", id).executeTakeFirst();
  if (row === undefined || !isLeaseDead(row)) {
    return;
  }
  await revokeDeadLease(tx, id);
  const died = await attemptsOf(tx, row);
  const failure = failureAfter(died);
  const end = endOf(row.stop_asked_at !== null, failure);
  await tx.db
    .updateTable("exchanges")
    .set((eb) =>
      end === null
        ? { ...died, state: "queued", revision: eb("revision", "+", 1) }
        : { ...died, ...endColumns(eb, tx.dialect), ...end },
    )
    .where("session_id", "=", id)
    .where("n", "=", row.n)
    .where("state", "in", DEAD)
    .execute();
  if (end?.state === "stopped") {
    await withdrawQuestions(tx, id, { isSuperseded: false });
  }
  if (failure !== null && end?.state === "failed") {
    await tx.db.updateTable("sessions").set(failureColumns(failure)).where("id", "=", id).execute();
  }
  await refreshReady(tx, id);
};

type Attempts = Pick<Selectable<ExchangeTable>, "attempts" | "attempts_before" | "progress">;

/** The counts after one more process has died. With progress in between, the count begins again. */
async function attemptsOf(tx: Tx, row: Attempts & { readonly id: string }): Promise<Attempts> {
  const progress = await readProgress(tx, row.id);
  const attempts_before = progress > row.progress ? row.attempts : row.attempts_before;
  return { attempts: row.attempts + 1, attempts_before, progress };
}

/** Null if it is tried again. */
function failureAfter({ attempts, attempts_before }: Attempts): ExchangeFailure | null {
  if (attempts >= MAX_LOST_PROCESSES) {
    return usedUp(`The exchange ended ${attempts} processes before it was done`);
  }
  const inVain = attempts - attempts_before;
  return inVain < MAX_ATTEMPTS
    ? null
    : usedUp(`The exchange ended ${inVain} processes, and made no progress in between`);
}

function usedUp(what: string): ExchangeFailure {
  return {
    code: "attempts_used_up",
    sentence: `${what}, so it is not tried again. Continue it to try once more.`,
  };
}

/** Decides what becomes of the exchange; null if it is queued again. */
function endOf(isStopAsked: boolean, failure: ExchangeFailure | null) {
  if (isStopAsked) {
    return { state: "stopped" } as const;
  }
  return failure === null
    ? null
    : ({ state: "failed", error_code: failure.code, error_sentence: failure.sentence } as const);
}

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
        "exchanges.n",
        "exchanges.attempts",
        "exchanges.attempts_before",
        "exchanges.progress",
        "exchanges.stop_asked_at",
        eb("lease_expires_at", ">", tx.dialect.now()).as("is_held"),
      ])
      // repeats the expression of the index, so that it is used
      .where("exchange_open", "=", sql<number>`1`)
      .where("sessions.state", "=", "active")
      // a node ran it; what a terminal ran waits for a person
      .where("queued_at", "is not", null)
  );
}

/**
 * Sessions with a queued exchange that no node finds: a process died that had taken the lease, and had begun
 * nothing.
 */
export const findUnready: Operation<null, readonly string[]> = async (tx) => {
  const rows = await unready(tx).execute();
  return rows.map(({ id }) => id);
};

/** Lets the nodes find it, unless somebody else did so first. */
export const makeReady: Operation<{ readonly id: string }, void> = async (tx, { id }) => {
  await lockSession(tx, id);
  if ((await unready(tx).where("sessions.id", "=", id).executeTakeFirst()) !== undefined) {
    await refreshReady(tx, id);
  }
};

function unready(tx: Tx) {
  return tx.db
    .selectFrom("exchanges")
    .innerJoin("sessions", "sessions.id", "exchanges.session_id")
    .select("sessions.id")
    .distinct()
    .where("exchanges.ended_at", "is", null)
    .where("exchanges.state", "=", "queued")
    .where("ready_at", "is", null)
    .where("sessions.state", "=", "active")
    .where("parent_call_id", "is", null)
    .where(({ eb, or }) =>
      or([
        eb("lease_owner", "is", null),
        eb("lease_expires_at", "is", null),
        eb("lease_expires_at", "<=", tx.dialect.now()),
      ]),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("exchanges as begun")
            .select("begun.n")
            .whereRef("begun.session_id", "=", "sessions.id")
            .where("begun.ended_at", "is", null)
            .where("begun.state", "!=", "queued"),
        ),
      ),
    );
}
