import type { Selectable } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import { type Parameter, prepared } from "../../prepared.ts";
import type { SessionTable } from "../../tables/database.ts";
import type { Tx } from "../../store.ts";

/** Proof of a lease: the epoch that it had when it was taken. */
export interface Fence {
  readonly session_id: string;
  readonly epoch: number;
}

/** Columns that a fence is compared with. */
type FencedRow = Pick<Selectable<SessionTable>, (typeof FENCED_COLUMNS)[number]>;

export const FENCED_COLUMNS = ["lease_epoch", "lease_owner", "state", "exchange_open"] as const;

/**
 * Refuses the transaction when the lease was given back, has changed hands or the session has ended
 * since, and locks the session's row until it is over. A process whose lease expired while it was
 * suspended thus writes nothing. Returns what the row says of the exchange.
 *
 * Error codes: `lease_lost`, `session_ended`.
 */
export async function holdFence(tx: Tx, fence: Fence): Promise<FencedRow> {
  const [row] = await tx.rows(fencedSession, fence);
  return requireHeld(row, fence);
}

const fencedSession = prepared(({ db, dialect }, given: Parameter<Fence>) =>
  db
    .selectFrom("sessions")
    .select(FENCED_COLUMNS)
    .where("id", "=", given("session_id"))
    .modifyEnd(dialect.forUpdate),
);

/** As `holdFence`, for a row of the session that the transaction holds. */
export function requireHeld(row: FencedRow | undefined, fence: Fence): FencedRow {
  if (row?.state === "ended") {
    throw new RepriseError(
      "session_ended",
      "The session was ended while the exchange was running, so the exchange stopped.",
    );
  }
  if (row?.lease_epoch !== fence.epoch || row.lease_owner === null) {
    throw new RepriseError(
      "lease_lost",
      "This exchange no longer holds the session, so it stopped and stored nothing more; resume the session to see its state.",
    );
  }
  return row;
}
