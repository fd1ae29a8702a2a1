import { RepriseError } from "../../core/errors.ts";
import type { Tx } from "../store.ts";

/** What an exchange holds in its hand: the epoch its lease had when it was taken. */
export interface Fence {
  readonly session_id: string;
  readonly epoch: number;
}

/**
 * Refuses the transaction when the lease was given back, has changed hands or the session has
 * ended since, and holds the session's row until it is over. A process that slept through its lease thus writes
 * nothing, whatever it still believes.
 *
 * Error codes: `lease_lost`, `session_ended`.
 */
export async function holdFence(tx: Tx, fence: Fence): Promise<void> {
  const row = await tx.db
    .selectFrom("sessions")
    .select(["lease_epoch", "lease_owner", "state"])
    .where("id", "=", fence.session_id)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  if (row?.state === "ended") {
    throw new RepriseError(
      "session_ended",
      "The session was ended while the exchange was at work, so the exchange stopped.",
    );
  }
  if (row?.lease_epoch !== fence.epoch || row.lease_owner === null) {
    throw new RepriseError(
      "lease_lost",
      "This exchange no longer holds the session, so it stopped and stored nothing more; resume the session to see where it stands.",
    );
  }
}
