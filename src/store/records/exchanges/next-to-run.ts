import { type LeaseState, readLeaseState } from "../leases/lease.ts";
import { isUnconfirmed } from "../messages/refuse-unconfirmed.ts";
import type { Operation } from "../../store.ts";
import { findNextQueued, type QueuedExchange } from "./ready.ts";

/** A queued exchange with all that its node has to know before it begins. */
export interface NextToRun {
  readonly queued: QueuedExchange;
  readonly lease_state: LeaseState;
  /** True if it may not run: see `isUnconfirmed`. */
  readonly is_unconfirmed: boolean;
}

/** As `readNextQueued`. */
export const readNextToRun: Operation<{ readonly session_id: string }, NextToRun | null> = async (
  tx,
  { session_id },
) => {
  const next = await findNextQueued(tx, { session_id });
  return next === null
    ? null
    : {
        queued: next.queued,
        lease_state: await readLeaseState(tx, { session_id }),
        is_unconfirmed: next.mayBeUnconfirmed && (await isUnconfirmed(tx, session_id)),
      };
};
