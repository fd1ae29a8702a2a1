import type { LeaseOwner } from "../store/records/leases/this-process.ts";

/** The oldest are forgotten: their leases have expired long since. */
const MAX_REMEMBERED = 10_000;

/**
 * Leases of this process that it could not release, or may hold without knowing: nobody works under
 * them. Kept as long as the process runs, because the database may be closed and opened again before
 * they expire.
 */
const unreleased = new Set<string>();

export function rememberUnreleased(sessionId: string, owner: LeaseOwner): void {
  unreleased.add(leaseName(sessionId, owner));
  for (const oldest of unreleased) {
    if (unreleased.size <= MAX_REMEMBERED) {
      return;
    }
    unreleased.delete(oldest);
  }
}

export function isUnreleased(sessionId: string, owner: LeaseOwner): boolean {
  return unreleased.has(leaseName(sessionId, owner));
}

/** An owner has a different `since` for each lease of a session that it takes. */
function leaseName(sessionId: string, { host, machine, pid, since }: LeaseOwner): string {
  return JSON.stringify([sessionId, host, machine, pid, since]);
}
