import type { ChangePosition } from "../../store/records/changes/read-changes.ts";
import { createOpenAnswers } from "../stream/open-answers.ts";
import { createServing, type Reader, type Serving } from "../stream/serving.ts";
import type { StreamsOptions } from "../stream/streams.ts";
import {
  type ChangeCursor,
  type ChangeFeed,
  createChangeFeed,
  type EncodedChanges,
} from "./change-feed.ts";

export interface EventsPosition {
  /** Null for a client that knows nothing. */
  readonly after: ChangePosition | null;
}

/** Streams of what changes in all sessions, each until its client is gone. */
export interface EventStreams extends Serving<EventsPosition> {
  readonly open: number;
  /** See `Streams`. */
  close(): Promise<void>;
}

interface FollowedFeed {
  readonly feed: ChangeFeed;
  readers: number;
}

export function createEventStreams(options: StreamsOptions): EventStreams {
  const answers = createOpenAnswers(options);
  /** Read while it has readers; null once it has failed, so that the next reader begins another one. */
  let current: FollowedFeed | null = null;
  const begin = (): FollowedFeed => {
    const onOver = (): void => {
      current = current === followed ? null : current;
    };
    const followed = { feed: createChangeFeed({ ...options, onOver }), readers: 0 };
    return followed;
  };
  const open = ({ after }: EventsPosition): Reader<ChangeCursor, EncodedChanges> => {
    const followed = (current ??= begin());
    const { feed } = followed;
    followed.readers += 1;
    return {
      source: feed,
      start: { after, page: null },
      startsSmall: false,
      isOver: neverOver,
      close: () => {
        followed.readers -= 1;
        if (followed.readers === 0) {
          feed.close();
        }
      },
    };
  };
  const { serve } = createServing(answers, options.observe, open);

  return {
    get open() {
      return answers.open;
    },
    serve,
    // a list changes for ever
    hasMore: () => Promise.resolve(true),
    close: answers.close,
  };
}

function neverOver(): boolean {
  return false;
}
