import type { Session } from "../core/sessions.ts";
import { readToSend } from "../store/records/exchanges/read-to-send.ts";
import type { LeaseState } from "../store/records/leases/lease.ts";
import type { Waiting } from "../store/records/messages/waiting.ts";
import type { Store } from "../store/store.ts";

/** Called before a session uses what came over HTTP. */
export interface Confirmation {
  /** Before a session's model, persona or folder is used. Error codes: `not_confirmed`. */
  confirmChoices(session: Session): Promise<void>;
  /**
   * Before an exchange; messages that are not confirmed stay pending. False if a person was asked, or something was
   * stored: what was read before is old. Error codes: `not_confirmed`.
   */
  confirmWaiting(session: Session, waiting: Waiting): Promise<boolean>;
}

/**
 * Confirms what waits in a session, and returns the session as its exchange may use it; null if that has to read it again.
 *
 * Error codes: `not_confirmed`.
 */
export async function confirmed(
  store: Store,
  confirmation: Confirmation,
  session: Session,
): Promise<LeaseState | null> {
  const { lease_state, waiting } = await store.read(readToSend, { session_id: session.id });
  return (await confirmation.confirmWaiting(session, waiting)) ? lease_state : null;
}
