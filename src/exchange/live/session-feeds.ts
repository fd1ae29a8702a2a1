import type { LiveEvent } from "../../core/schemas/live.ts";
import { positionAfter } from "../../core/live/live-position.ts";
import { cursorAt, type LiveCursor } from "./events-between.ts";
import type { FeedStep } from "./feed-step.ts";
import { createSessionFeed, type SessionFeed, type SessionFeedOptions } from "./session-feed.ts";
import type { SessionWatcher } from "./session-watcher.ts";
import { CountedSource, readAfter, type Source } from "./source.ts";

/** The feeds of the sessions that have readers now. */
export interface SessionFeeds<Step extends FeedStep> {
  /** Opens a reader's source of a session's steps. It must be closed. */
  open(followed: Pick<LivePlace<Step>, "session_id" | "all">): OpenSource<Step>;
  /**
   * The events after a message, until nothing will ever follow, the session is deleted, or the signal is aborted.
   *
   * Error codes: `session_not_found`, `database_*`, for what is read first.
   */
  events(place: LivePlace<Step>): AsyncGenerator<LiveEvent, void>;
}

export interface OpenSource<Step extends FeedStep> {
  readonly source: Source<LiveCursor, Step>;
  readonly close: () => void;
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
  const enter = (session_id: string): OpenFeed<Step> => {
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

  const open = ({ session_id, all }: Pick<LivePlace<Step>, "session_id" | "all">) => {
    const opened = enter(session_id);
    const { changes, next } = opened.feed;
    return {
      source: new CountedSource(changes, (cursor: LiveCursor) => next(cursor, all)),
      close: () => leave(session_id, opened),
    };
  };

  return {
    open,
    events: async function* ({ after_seq, signal, pages = atOnce(), ...followed }) {
      const { source, close } = open(followed);
      try {
        const start = cursorAt(positionAfter(after_seq));
        let step = signal.aborted ? null : await pages.read(() => source.read(start));
        while (step !== null) {
          yield* step.events;
          pages.taken();
          if (step.isLast || signal.aborted) {
            return;
          }
          if (!step.more) {
            await source.changed(step.cursor, signal);
          }
          step = await readAfter(source, step, { signal, inTurn: pages.read });
        }
      } finally {
        close();
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
