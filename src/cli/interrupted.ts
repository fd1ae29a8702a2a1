import { isGone } from "../agent/this-process.ts";
import type { Session } from "../core/sessions.ts";
import { readLease } from "../store/leases/lease.ts";
import type { Store } from "../store/store.ts";

/**
 * True when the session's last exchange never came to its end. A process that was killed still
 * seems to be at work until its lease runs out; where it is known to be gone, nobody has to wait.
 */
export async function isInterrupted(store: Store, session: Session): Promise<boolean> {
  if (session.activity !== "running") {
    return session.activity === "interrupted";
  }
  const lease = await store.read(readLease, { session_id: session.id });
  return lease !== null && isGone(lease.owner);
}
