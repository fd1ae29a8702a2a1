import type { LiveEvent } from "../../core/schemas/live.ts";
import { LIVE_POLL_MS, STREAM_POLL_MS, STREAM_UNSENT_BYTES } from "../../core/limits.ts";
import type { Store } from "../../store/store.ts";
import { stepTo } from "./feed-step.ts";
import type { ReadPhases } from "../../store/records/live/read-live-feed.ts";
import { NO_SOURCE } from "./live-source.ts";
import { createSessionFeeds, type LivePlace } from "./session-feeds.ts";
import { createSessionWatcher } from "./session-watcher.ts";

/**
 * The live feed of a session whose exchanges other processes run, as `SessionFeeds.events`. `onFailure` is called once
 * when the database cannot be read; the feed continues when it can be.
 */
export async function* followSession(
  store: Store,
  {
    onFailure,
    readPhases,
    ...place
  }: Omit<LivePlace<never>, "pages"> & {
    readonly onFailure: (error: unknown) => void;
    readonly readPhases: ReadPhases;
  },
): AsyncGenerator<LiveEvent, void> {
  const watcher = createSessionWatcher({
    store,
    pollMs: STREAM_POLL_MS,
    livePollMs: LIVE_POLL_MS,
    onFailure,
  });
  const feeds = createSessionFeeds({
    store,
    watcher,
    source: NO_SOURCE,
    unsentBytes: STREAM_UNSENT_BYTES,
    readPhases,
    stepsTo: (view) => (cursor) => stepTo(cursor, view),
  });
  try {
    yield* feeds.events(place);
  } finally {
    watcher.close();
  }
}
