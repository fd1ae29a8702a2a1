import { RepriseError } from "../../core/errors.ts";
import { refuseEnded } from "../sessions/change.ts";
import { readSession } from "../sessions/read.ts";
import type { Operation, Tx } from "../store.ts";
import { type Fence, holdFence } from "./fence.ts";

/** Who holds a session's lease. `since` is ISO 8601 in UTC, by the holder's clock. */
export interface LeaseOwner {
  readonly host: string;
  readonly pid: number;
  readonly command: string;
  readonly since: string;
}

export interface TakeLease {
  readonly session_id: string;
  readonly owner: LeaseOwner;
  /** Life of the lease by the database's clock, in milliseconds. */
  readonly life_ms: number;
  /** True to take a lease that another still holds: its epoch is then worth nothing. */
  readonly take_over?: boolean;
}

export interface Lease extends Fence {
  /** True when the exchange before this one never came to its end. */
  readonly was_interrupted: boolean;
}

/**
 * Makes the caller the session's one writer. The epoch is raised, so whatever an earlier holder
 * still tries to write is refused.
 *
 * Error codes: `session_not_found`, `session_ended`, `session_busy` (says who and since when).
 */
export const takeLease: Operation<TakeLease, Lease> = async (tx, input) => {
  const session = await readSession(tx, { id: input.session_id });
  refuseEnded(session);
  const held = await heldBy(tx, input.session_id);
  if (held.owner !== null && input.take_over !== true) {
    throw busy(held.owner);
  }
  const { lease_epoch } = await tx.db
    .updateTable("sessions")
    .set((eb) => ({
      lease_owner: JSON.stringify(input.owner),
      lease_epoch: eb("lease_epoch", "+", 1),
      lease_expires_at: tx.dialect.now(input.life_ms),
    }))
    .where("id", "=", input.session_id)
    .returning("lease_epoch")
    .executeTakeFirstOrThrow();
  return {
    session_id: input.session_id,
    epoch: lease_epoch,
    was_interrupted: held.open,
  };
};

async function heldBy(
  tx: Tx,
  sessionId: string,
): Promise<{ owner: LeaseOwner | null; open: boolean }> {
  const row = await tx.db
    .selectFrom("sessions")
    .select(["lease_owner", "exchange_open"])
    .select(({ eb }) => eb("lease_expires_at", ">", tx.dialect.now()).as("alive"))
    .where("id", "=", sessionId)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirstOrThrow();
  const alive = row.lease_owner !== null && Boolean(row.alive);
  return {
    owner: alive ? (JSON.parse(row.lease_owner ?? "null") as LeaseOwner) : null,
    open: row.exchange_open === 1,
  };
}

function busy(owner: LeaseOwner): RepriseError {
  return new RepriseError(
    "session_busy",
    `Another exchange is at work in this session: process ${owner.pid} on ${owner.host} (${owner.command}), since ${owner.since}; wait until it is done, or stop that process.`,
  );
}

/** Marks the exchange as begun: until `releaseLease` says otherwise it counts as interrupted. */
export const openExchange: Operation<{ readonly fence: Fence }, void> = async (tx, { fence }) => {
  await holdFence(tx, fence);
  await tx.db
    .updateTable("sessions")
    .set({ exchange_open: 1 })
    .where("id", "=", fence.session_id)
    .execute();
};

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
}

/** Gives the lease back. A lease that is another's by now is left alone, without an error. */
export const releaseLease: Operation<ReleaseLease, void> = async (tx, { fence, finished }) => {
  await tx.db
    .updateTable("sessions")
    .set({
      lease_owner: null,
      lease_expires_at: null,
      ...(finished ? { exchange_open: 0 } : {}),
    })
    .where("id", "=", fence.session_id)
    .where("lease_epoch", "=", fence.epoch)
    .execute();
  tx.touch(fence.session_id);
};
