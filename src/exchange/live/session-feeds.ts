import type { LiveEvent } from "../../core/live.ts";
import { positionAfter } from "../../core/live-position.ts";
import { cursorAt } from "./events-between.ts";
import type { FeedStep } from "./feed-step.ts";
import { readWhenThere } from "./read-when-there.ts";
import { createSessionFeed, type SessionFeed, type SessionFeedOptions } from "./session-feed.ts";
import type { SessionWatcher } from "./session-watcher.ts";

/** The feeds of the sessions that have readers now. */
export interface SessionFeeds<Step extends FeedStep> {
  /** Gives the feed of a session to a reader, until the reader is done. */
  use<Output>(
    session_id: string,
    read: (feed: SessionFeed<Step>) => Promise<Output>,
  ): Promise<Output>;
  /**
   * The events after a message, until nothing will ever follow, the session is deleted, or the signal is aborted.
   *
   * Error codes: `session_not_found`, `database_*`, for what is read first.
   */
  events(place: LivePlace<Step>): AsyncGenerator<LiveEvent, void>;
}

export interface LivePlace<Step> {
  readonly session_id: string;
  readonly after_seq: number;
  /** True to see archived messages too. */
  readonly all: boolean;
  readonly signal: AbortSignal;
  /** How it reads to catch up, if it shares the process with others; what is new is read at once. */
  readonly pages?: CatchUp<Step> | undefined;
}

export interface CatchUp<Step> {
  read(read: () => Promise<Step>): Promise<Step>;
  /** Called once all events of the step were used. */
  taken(): void;
}

export interface SessionFeedsOptions<Step extends FeedStep> extends SessionFeedOptions<Step> {
  readonly watcher: SessionWatcher;
}

/** How often it is checked whether processes of this machine are alive that run exchanges. */
const REFRESH_MS = 500;
/** In how many of these checks the database is asked once, for processes of other machines. */
const CHECKS_PER_READ = 30;

export function createSessionFeeds<Step extends FeedStep>(
  options: SessionFeedsOptions<Step>,
): SessionFeeds<Step> {
  const { watcher } = options;
  const feeds = new Map<string, OpenFeed<Step>>();
  let refreshing: ReturnType<typeof setInterval> | null = null;

  let checks = 0;
  const refresh = (): void => {
    checks += 1;
    for (const { feed } of feeds.values()) {
      feed.refresh({ read: checks % CHECKS_PER_READ === 0 });
    }
  };
  const open = (session_id: string): OpenFeed<Step> => {
    const known = feeds.get(session_id);
    if (known !== undefined) {
      known.readers += 1;
      return known;
    }
    const feed = createSessionFeed(session_id, options);
    const opened = { feed, readers: 1, end: watcher.watchLive(session_id, feed.hint) };
    feeds.set(session_id, opened);
    refreshing ??= setInterval(refresh, REFRESH_MS).unref();
    return opened;
  };
  const leave = (session_id: string, opened: OpenFeed<Step>): void => {
    opened.readers -= 1;
    if (opened.readers === 0) {
      opened.end();
      opened.feed.close();
      feeds.delete(session_id);
    }
    if (feeds.size === 0 && refreshing !== null) {
      clearInterval(refreshing);
      refreshing = null;
    }
  };

  return {
    use: async (session_id, read) => {
      const opened = open(session_id);
      try {
        return await read(opened.feed);
      } finally {
        leave(session_id, opened);
      }
    },
    events: async function* ({ session_id, after_seq, all, signal, pages = atOnce() }) {
      const opened = open(session_id);
      const { feed } = opened;
      try {
        let { version } = feed;
        let step: Step | null = await pages.read(() =>
          feed.next(cursorAt(positionAfter(after_seq)), all),
        );
        while (step !== null) {
          yield* step.events;
          pages.taken();
          const { cursor, more, isLast }: Step = step;
          if (isLast || signal.aborted) {
            return;
          }
          if (!more) {
            await feed.changed(version, signal);
          }
          ({ version } = feed);
          const next = (): Promise<Step> => feed.next(cursor, all);
          step = await readWhenThere(more ? () => pages.read(next) : next, signal);
        }
      } finally {
        leave(session_id, opened);
      }
    },
  };
}

function atOnce<Step>(): CatchUp<Step> {
  return { read: (read) => read(), taken: () => undefined };
}

interface OpenFeed<Step extends FeedStep> {
  readonly feed: SessionFeed<Step>;
  readers: number;
  readonly end: () => void;
}
