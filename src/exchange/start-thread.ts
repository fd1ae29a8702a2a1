import { thisProcess } from "../store/records/leases/this-process.ts";
import { LEASE_MS } from "../core/limits.ts";
import type { Session } from "../core/sessions.ts";
import { type NewThread, startThread } from "../store/records/sessions/change.ts";
import type { Store } from "../store/store.ts";

/**
 * Begins a fresh agent thread. Taking the lease first reports a running exchange, and frees a
 * session whose process was killed: its lease would block this for up to 30 s.
 *
 * Error codes: `session_not_found`, `session_ended`, `session_busy`.
 */
export async function beginThread(store: Store, change: NewThread): Promise<Session> {
  await refuseBusy(store, change.id);
  return store.write(startThread, change);
}

/** Takes the lease and releases it. Error codes: as `beginThread`. */
export async function refuseBusy(store: Store, session_id: string): Promise<void> {
  // loaded here: a terminal shows its prompt without it
  const { holdLease } = await import("./lease-holder.ts");
  const held = await holdLease({
    store,
    session_id,
    owner: thisProcess("reprise"),
    life_ms: LEASE_MS,
    when_busy: "refuse",
    signal: new AbortController().signal,
  });
  await held.release({ finished: false, end: null });
}
