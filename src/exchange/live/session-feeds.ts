import type { LiveEvent } from "../../core/schemas/live.ts";
import { positionAfter } from "../../core/live/live-position.ts";
import { cursorAt, type LiveCursor } from "./events-between.ts";
import type { FeedStep } from "./feed-step.ts";
import { createSessionFeed, type SessionFeed, type SessionFeedOptions } from "./session-feed.ts";
import type { SessionWatcher } from "./session-watcher.ts";
import { nextPortion, type Source, sourceOf } from "./source.ts";

/** The feeds of the sessions that have readers now. */
export interface SessionFeeds<Step extends FeedStep> {
  /** Gives a reader its source of a session's steps, until the reader is done. */
  use<Output>(
    followed: Pick<LivePlace<Step>, "session_id" | "all">,
    read: (source: Source<LiveCursor, Step>) => Promise<Output>,
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
  read(read: () => Promise<Step | null>): Promise<Step | null>;
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
    use: async ({ session_id, all }, read) => {
      const opened = open(session_id);
      try {
        return await read(stepsOf(opened, all));
      } finally {
        leave(session_id, opened);
      }
    },
    events: async function* ({ session_id, after_seq, all, signal, pages = atOnce() }) {
      const opened = open(session_id);
      try {
        const source = stepsOf(opened, all);
        const start = cursorAt(positionAfter(after_seq));
        let step = await pages.read(() => source.next(start, signal));
        while (step !== null) {
          yield* step.events;
          pages.taken();
          if (step.isLast || signal.aborted) {
            return;
          }
          step = await nextPortion(source, step, { signal, inTurn: pages.read });
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

function stepsOf<Step extends FeedStep>(
  { feed }: OpenFeed<Step>,
  all: boolean,
): Source<LiveCursor, Step> {
  return sourceOf(feed.changes, (cursor: LiveCursor) => feed.next(cursor, all));
}

interface OpenFeed<Step extends FeedStep> {
  readonly feed: SessionFeed<Step>;
  readers: number;
  readonly end: () => void;
}
