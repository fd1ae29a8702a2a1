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

export function createEventStreams(options: StreamsOptions): EventStreams {
  const answers = createOpenAnswers(options);
  /** Read while somebody follows it. */
  let feed: ChangeFeed | null = null;
  let readers = 0;
  const leave = (): void => {
    readers -= 1;
    if (readers === 0) {
      feed?.close();
      feed = null;
    }
  };
  const open = ({ after }: EventsPosition): Reader<ChangeCursor, EncodedChanges> => {
    readers += 1;
    return {
      source: (feed ??= createChangeFeed(options)),
      start: { after, page: null },
      startsSmall: false,
      isOver: neverOver,
      close: leave,
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
