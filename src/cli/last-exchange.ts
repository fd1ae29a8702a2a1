import type { ExchangeFailure, Session } from "../core/sessions.ts";
import { readFailures } from "../store/sessions/failures.ts";
import type { Store } from "../store/store.ts";

/** Why the last exchange of these sessions failed, by id; nothing of those that were only cut. */
export async function failuresOf(
  store: Store,
  sessions: readonly Session[],
): Promise<ReadonlyMap<string, ExchangeFailure>> {
  const ids = sessions.filter(isOpen).map(({ id }) => id);
  return ids.length === 0 ? new Map() : store.read(readFailures, { ids });
}

/** What a person reads for `activity`: a failed exchange is shown as failed. */
export function activityShown(
  session: Session,
  failures: ReadonlyMap<string, ExchangeFailure>,
): string {
  return isOpen(session) && failures.has(session.id) ? "failed" : session.activity;
}

function isOpen({ activity }: Session): boolean {
  return activity === "interrupted";
}
