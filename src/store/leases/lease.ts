import { sql } from "kysely";

import { RepriseError } from "../../core/errors.ts";
import type { ExchangeFailure } from "../../core/sessions.ts";
import { refuseEnded } from "../sessions/change.ts";
import { failureColumns, NO_FAILURE } from "../sessions/failures.ts";
import { lockSession } from "../sessions/lock.ts";
import { readSession } from "../sessions/read.ts";
import type { Operation } from "../store.ts";
import { type Fence, holdFence } from "./fence.ts";
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
  /** True when the exchange before this one did not come to its end. */
  readonly was_interrupted: boolean;
}

export interface HeldLease extends Fence {
  readonly owner: LeaseOwner;
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
  await lockSession(tx, input.session_id);
  refuseEnded(await readSession(tx, { id: input.session_id }));
  const held = await readLease(tx, input);
  if (held !== null && held.epoch !== input.take_over_epoch) {
    throw busy(held.owner);
  }
  const { lease_epoch, exchange_open } = await tx.db
    .updateTable("sessions")
    .set((eb) => ({
      lease_owner: JSON.stringify(input.owner),
      lease_epoch: eb("lease_epoch", "+", 1),
      lease_expires_at: tx.dialect.now(input.life_ms),
      // whoever takes it to compact or repair changes nothing about the last exchange
      failure_epoch: sql<number>`case when failure_epoch = lease_epoch then failure_epoch + 1 end`,
    }))
    .where("id", "=", input.session_id)
    .returning(["lease_epoch", "exchange_open"])
    .executeTakeFirstOrThrow();
  return {
    session_id: input.session_id,
    epoch: lease_epoch,
    was_interrupted: exchange_open === 1,
  };
};

function busy(owner: LeaseOwner): RepriseError {
  return new RepriseError(
    "session_busy",
    `Another exchange is at work in this session: process ${owner.pid} on ${owner.host} (${owner.command}), since ${owner.since}; wait until it is done, or stop that process.`,
  );
}

export interface RenewLease {
  readonly fence: Fence;
  readonly life_ms: number;
}

/** Prolongs the lease. Error codes: `lease_lost`, `session_ended`. */
export const renewLease: Operation<RenewLease, void> = async (tx, { fence, life_ms }) => {
  await holdFence(tx, fence);
  await tx.db
    .updateTable("sessions")
    .set({ lease_expires_at: tx.dialect.now(life_ms) })
    .where("id", "=", fence.session_id)
    .execute();
};

export interface ReleaseLease {
  readonly fence: Fence;
  /** True when the exchange came to its end; false leaves the session `interrupted`. */
  readonly finished: boolean;
  /** Why the exchange failed; what is stored of a failure stays as it is without it. */
  readonly failure?: ExchangeFailure | null;
}

/** Gives the lease back. A lease that is another's by now is left alone, without an error. */
export const releaseLease: Operation<ReleaseLease, void> = async (tx, input) => {
  const { fence, finished, failure = null } = input;
  await tx.db
    .updateTable("sessions")
    .set({
      lease_owner: null,
      lease_expires_at: null,
      ...(finished ? { exchange_open: 0, ...NO_FAILURE } : {}),
      ...(failure === null ? {} : failureColumns(failure, fence.epoch)),
    })
    .where("id", "=", fence.session_id)
    .where("lease_epoch", "=", fence.epoch)
    .execute();
  tx.touch(fence.session_id);
};
