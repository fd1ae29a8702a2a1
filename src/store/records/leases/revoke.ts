import { withinDelegation } from "../questions/tree.ts";
import type { Tx } from "../../store.ts";
import { isGone, type LeaseOwner } from "./this-process.ts";

/** The columns of a session that nobody holds. */
export const FREE = { lease_owner: null, lease_expires_at: null } as const;

/** True if the lease has expired, or its process is known to be dead. */
export function isLeaseDead(row: {
  readonly lease_owner: string | null;
  /** By the database's clock. */
  readonly is_held: unknown;
}): boolean {
  const owner = JSON.parse(row.lease_owner ?? "null") as LeaseOwner | null;
  return owner === null || !row.is_held || isGone(owner);
}

/**
 * Takes the lease of a session from a process that is dead or was suspended, and those that it has of
 * the session's sub-agents. If it wakes up, it writes nothing more, also before another process
 * has taken them. Nothing happens if the process is alive.
 */
export async function revokeDeadLease(tx: Tx, id: string): Promise<void> {
  const rows = await tx.db
    .selectFrom("sessions")
    .select((eb) => [
      "id",
      "lease_owner",
      eb("lease_expires_at", ">", tx.dialect.now()).as("is_held"),
    ])
    .where("id", "in", withinDelegation(id))
    .where("lease_owner", "is not", null)
    .execute();
  const own = rows.find((row) => row.id === id);
  if (own === undefined || !isLeaseDead(own)) {
    return;
  }
  const holder = processOf(own.lease_owner);
  const held = rows.filter(({ lease_owner }) => processOf(lease_owner) === holder);
  const ids = held.map((row) => row.id);
  await tx.db.updateTable("sessions").set(FREE).where("id", "in", ids).execute();
}

/** Returns what the leases of one process have in common. */
function processOf(lease_owner: string | null): string {
  const { host, machine, pid } = JSON.parse(lease_owner ?? "{}") as LeaseOwner;
  return JSON.stringify([host, machine, pid]);
}
