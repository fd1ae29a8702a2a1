import { thisProcess } from "../store/records/leases/this-process.ts";
import { LEASE_MS } from "../core/limits.ts";
import type { Session } from "../core/sessions.ts";
import {
  type NewThread,
  startThread,
  type SwitchModel,
  switchModel,
} from "../store/records/sessions/change.ts";
import { readSession } from "../store/records/sessions/read.ts";
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

/**
 * Lets another model continue the thread, also of a session whose process was killed.
 *
 * Error codes: `session_not_found`, `session_ended`, `session_busy`.
 */
export async function continueWith(store: Store, change: SwitchModel): Promise<Session> {
  const { activity } = await store.read(readSession, { id: change.id });
  // taking the lease of an exchange that waits for an answer would end its wait
  if (activity === "running") {
    await refuseBusy(store, change.id);
  }
  return store.write(switchModel, change);
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
