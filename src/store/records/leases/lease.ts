import type { InferResult } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import type { ExchangeFailure, Session } from "../../../core/sessions.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import { refreshReady } from "../exchanges/ready.ts";
import { endRecord, type RecordEnd, settleRecords } from "../exchanges/records.ts";
import { isStopAsked } from "../exchanges/stop-asked.ts";
import { parkedState } from "../questions/park.ts";
import { withdrawQuestions } from "../questions/withdraw.ts";
import { holdActive } from "../sessions/change.ts";
import { failureColumns, NO_FAILURE } from "../sessions/failures.ts";
import { sessionNotFound } from "../sessions/read.ts";
import { selectSessions, sessionColumns, sessionOf } from "../sessions/rows.ts";
import { IS_LIMITED, IS_PRICE_LIMITED } from "../sessions/limits.ts";
import type { Operation, Tx } from "../../store.ts";
import { type Fence, holdFence } from "./fence.ts";
import { FREE } from "./revoke.ts";
import type { LeaseOwner } from "./this-process.ts";

export interface TakeLease {
  readonly session_id: string;
  readonly owner: LeaseOwner;
  /** Life of the lease by the database's clock, in milliseconds. */
  readonly life_ms: number;
  /** The epoch of a lease that is to be taken although another still holds it. */
  readonly take_over_epoch?: number;
}

export interface Lease extends Fence {
  /** True if the exchange before this one did not finish. */
  readonly was_interrupted: boolean;
  readonly session: Session;
}

export interface HeldLease extends Fence {
  readonly owner: LeaseOwner;
}

/** A session before its lease is taken. */
export interface LeaseState {
  readonly session: Session;
  /** The current epoch; null while a lease is stored, expired or not. */
  readonly free_epoch: number | null;
  /** True if the top of its tree has a limit of tokens or of the price. */
  readonly is_limited: boolean;
  /** True if it has one of the price. */
  readonly is_price_limited: boolean;
  /** In each prefix of its threads that was made in this database. */
  readonly prefix_mark: string | null;
}

/** Error codes: `session_not_found`. */
export const readLeaseState: Operation<{ readonly session_id: string }, LeaseState> = async (
  tx,
  { session_id },
) => {
  const [row] = await tx.rows(leaseStateById, { session_id });
  if (row === undefined) {
    throw sessionNotFound();
  }
  return leaseStateOf(row);
};

const leaseStateById = prepared((parts, given: Parameter<{ readonly session_id: string }>) =>
  selectLeaseStates(parts).where("id", "=", given("session_id")),
);

export function selectLeaseStates(parts: QueryParts) {
  return selectSessions(parts)
    .select(["lease_owner", "lease_epoch", "prefix_mark"])
    .select([IS_LIMITED, IS_PRICE_LIMITED]);
}

export function leaseStateOf(
  row: InferResult<ReturnType<typeof selectLeaseStates>>[number],
): LeaseState {
  const free_epoch = row.lease_owner === null ? row.lease_epoch : null;
  return {
    session: sessionOf(row),
    free_epoch,
    is_limited: Boolean(row.is_limited),
    is_price_limited: Boolean(row.is_price_limited),
    prefix_mark: row.prefix_mark,
  };
}

/** The lease that holds the session now; null when none does. */
export const readLease: Operation<{ readonly session_id: string }, HeldLease | null> = async (
  tx,
  { session_id },
) => {
  const row = await tx.db
    .selectFrom("sessions")
    .select(["lease_owner", "lease_epoch"])
    .where("id", "=", session_id)
    .where("lease_expires_at", ">", tx.dialect.now())
    .executeTakeFirst();
  if (row === undefined || row.lease_owner === null) {
    return null;
  }
  const owner = JSON.parse(row.lease_owner) as LeaseOwner;
  return { session_id, epoch: row.lease_epoch, owner };
};

/**
 * Makes the caller the session's one writer. The epoch is raised, so whatever an earlier holder
 * still tries to write is refused.
 *
 * Error codes: `session_not_found`, `session_ended`, `session_busy` (says who and since when).
 */
export const takeLease: Operation<TakeLease, Lease> = async (tx, input) => {
  const { session_id, life_ms, take_over_epoch = null } = input;
  const taken = { session_id, life_ms, take_over_epoch, owner: JSON.stringify(input.owner) };
  for (;;) {
    const [row] = await tx.rows(takeIfFree, taken);
    if (row !== undefined) {
      const was_interrupted = row.exchange_open === 1;
      if (was_interrupted && (await settleRecords(tx, { session_id, epoch: row.lease_epoch }))) {
        await withdrawQuestions(tx, session_id, { isSuperseded: false });
      }
      return { session_id, epoch: row.lease_epoch, was_interrupted, session: sessionOf(row) };
    }
    // on PostgreSQL, it may have been given back by now: then it is free for the next attempt
    await holdActive(tx, session_id);
    const held = await readLease(tx, input);
    if (held !== null && held.epoch !== take_over_epoch) {
      throw busy(held.owner);
    }
  }
};

interface Taken {
  readonly session_id: string;
  readonly owner: string;
  readonly life_ms: number;
  readonly take_over_epoch: number | null;
}

const takeIfFree = prepared(({ db, dialect }, given: Parameter<Taken>) =>
  db
    .updateTable("sessions")
    .set((eb) => ({
      lease_owner: given("owner"),
      lease_epoch: eb("lease_epoch", "+", 1),
      lease_expires_at: dialect.now(given("life_ms")),
    }))
    .where("id", "=", given("session_id"))
    .where("state", "=", "active")
    .where(({ or, eb }) =>
      or([
        eb("lease_owner", "is", null),
        eb("lease_expires_at", "is", null),
        eb("lease_expires_at", "<=", dialect.now()),
        eb("lease_epoch", "=", given("take_over_epoch")),
      ]),
    )
    .returning(sessionColumns({ dialect }))
    .returning("lease_epoch"),
);

function busy(owner: LeaseOwner): RepriseError {
  return new RepriseError(
    "session_busy",
    `Another exchange is running in this session: process ${owner.pid} on ${owner.host} (${owner.command}), since ${owner.since}; wait until it is done, or stop it with \`reprise stop\`.`,
  );
}

/** Prolongs the lease. Error codes: `lease_lost`, `session_ended`. */
export const renewLease: Operation<
  { readonly fence: Fence; readonly life_ms: number },
  void
> = async (tx, { fence, life_ms }) => {
  await holdFence(tx, fence);
  await tx.db
    .updateTable("sessions")
    .set({ lease_expires_at: tx.dialect.now(life_ms) })
    .where("id", "=", fence.session_id)
    .execute();
};

export interface ReleaseLease {
  readonly fence: Fence;
  /** True if the exchange finished; false leaves the session `interrupted`. */
  readonly finished: boolean;
  /** Why the exchange failed; without it, a stored failure is kept. */
  readonly failure?: ExchangeFailure | null;
  /**
   * How the exchange under the lease ended; null if there was none. If it is not given, it is done if
   * it finished, failed if there is a failure, and otherwise was cut.
   */
  readonly end?: RecordEnd["state"] | null;
  /** As of `RecordEnd`. */
  readonly not_before?: string | null;
}

/**
 * Gives the lease back. A lease that is another's by now, or was revoked, is left alone, without an
 * error: the answer is then null, else the current session.
 */
export const releaseLease: Operation<ReleaseLease, Session | null> = async (tx, input) => {
  const { fence, finished, failure = null } = input;
  const { end = finished ? "done" : failure === null ? "interrupted" : "failed" } = input;
  tx.touch(fence.session_id);
  const row = await tx.db
    .updateTable("sessions")
    .set({
      ...FREE,
      ...(finished ? FINISHED : {}),
      ...(failure === null ? {} : failureColumns(failure)),
    })
    .where("id", "=", fence.session_id)
    .where("lease_epoch", "=", fence.epoch)
    .where("lease_owner", "is not", null)
    .returning(sessionColumns(tx))
    .executeTakeFirst();
  if (row === undefined) {
    return null;
  }
  const session = sessionOf(row);
  const { not_before = null } = input;
  await endAndNext(tx, { fence, end, failure, session, not_before });
  return session;
};

/** Says how the exchange ended, and lets the next one be found that is queued. */
async function endAndNext(
  tx: Tx,
  input: Required<Pick<ReleaseLease, "fence" | "end" | "failure">> &
    Pick<ReleaseLease, "not_before"> & { readonly session: Session },
): Promise<void> {
  const { fence, failure, session, not_before = null } = input;
  const end = input.end === "waiting" ? await parkedState(tx, session, fence) : input.end;
  if (end === "stopped" || (isToContinue(input.end) && (await isStopAsked(tx, fence)))) {
    await withdrawQuestions(tx, fence.session_id, { isSuperseded: false });
  }
  if (end === null || (await endRecord(tx, { fence, state: end, failure, not_before }))) {
    await refreshReady(tx, fence.session_id);
  }
}

/** If somebody has asked for a stop meanwhile, it is stopped instead. */
function isToContinue(end: ReleaseLease["end"]): boolean {
  return end === "waiting" || end === "queued" || end === "interrupted";
}

const FINISHED = { exchange_open: 0, ...NO_FAILURE } as const;

/** As `releaseLease` for a finished exchange, only if `holdFence` would not refuse it. */
export async function releaseHeld(
  tx: Tx,
  { fence, end }: Required<Pick<ReleaseLease, "fence" | "end">>,
): Promise<Session | null> {
  tx.touch(fence.session_id);
  const [row] = await tx.rows(releaseFinished, fence);
  if (row === undefined) {
    return null;
  }
  const session = sessionOf(row);
  await endAndNext(tx, { fence, end, failure: null, session });
  return session;
}

const releaseFinished = prepared(({ db, dialect }, given: Parameter<Fence>) =>
  db
    .updateTable("sessions")
    .set({ ...FREE, ...FINISHED })
    .where("id", "=", given("session_id"))
    .where("lease_epoch", "=", given("epoch"))
    .where("lease_owner", "is not", null)
    .where("state", "=", "active")
    .returning(sessionColumns({ dialect })),
);
