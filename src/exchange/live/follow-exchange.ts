import { followExchange, type Followed, type FollowStep } from "../../core/live/follow-exchange.ts";
import type { LiveEvent } from "../../core/schemas/live.ts";
import type { ExchangeRecord } from "../../core/sessions.ts";
import { readExchange } from "../../store/records/exchanges/read.ts";
import type { Store } from "../../store/store.ts";
import { followSession } from "./follow-session.ts";
import { NO_PHASES } from "./live-view.ts";
import type { LivePlace } from "./session-feeds.ts";

export interface FollowedExchange extends Omit<Followed, "signal"> {
  readonly session_id: string;
}

/** The live feed of a session. `isNew`: its reader wants nothing of before. */
type Events = (
  place: Omit<LivePlace<never>, "pages"> & { readonly isNew: boolean },
) => AsyncGenerator<LiveEvent, void>;

/**
 * Follows an exchange of a store over a live feed: see `followExchange` of the core.
 *
 * Error codes: `session_not_found`, `exchange_not_found`, `database_*`.
 */
export function followStored(
  { store, events }: { readonly store: Store; readonly events: Events },
  { session_id, ...followed }: FollowedExchange & { readonly signal: AbortSignal },
): AsyncGenerator<FollowStep<ExchangeRecord>, void> {
  const reads = {
    read: () => store.read(readExchange, { reference: session_id, n: followed.n }),
    live: (seq: number | null, signal = followed.signal) => {
      const after_seq = seq ?? Number.MAX_SAFE_INTEGER;
      return events({ session_id, after_seq, all: true, signal, isNew: seq === null });
    },
  };
  return followExchange(reads, followed);
}

/**
 * As `followStored`, of an exchange that another process runs. It fails if the database cannot be read meanwhile.
 */
export async function* followElsewhere(
  store: Store,
  followed: FollowedExchange,
): AsyncGenerator<FollowStep<ExchangeRecord>, void> {
  const lost = new AbortController();
  const onFailure = (error: unknown): void => lost.abort(error);
  const events: Events = (place) =>
    followSession(store, { ...place, onFailure, readPhases: NO_PHASES });
  yield* followStored({ store, events }, { ...followed, signal: lost.signal });
  lost.signal.throwIfAborted();
}
