import type { ChangePosition } from "../../store/changes/read-changes.ts";
import type { Store } from "../../store/store.ts";
import type { Observe } from "../metrics/observation.ts";
import { createOpenAnswers, type StreamAnswer, type StreamEnd } from "../stream/open-answers.ts";
import { readWhenThere } from "../../exchange/live/read-when-there.ts";
import type { SessionWatcher } from "../../exchange/live/session-watcher.ts";
import type { StreamSettings } from "../stream/streams.ts";
import {
  type ChangeCursor,
  type ChangeFeed,
  createChangeFeed,
  type EncodedChanges,
} from "./change-feed.ts";

export interface EventsRequest extends StreamAnswer {
  /** Null for a client that knows nothing. */
  readonly after: ChangePosition | null;
}

export interface EventStreams {
  readonly open: number;
  /**
   * Answers with what changes in all sessions, until the client is gone. A failure after the answer began cuts
   * the connection: the client resumes by its last id.
   *
   * Error codes: `database_*`, before anything is answered.
   */
  serve(request: EventsRequest): Promise<"served">;
  /** See `Streams`. */
  close(): Promise<void>;
}

export interface EventStreamsOptions extends StreamSettings {
  readonly store: Store;
  readonly watcher: SessionWatcher;
  readonly observe: Observe;
  readonly onFailure: (error: unknown, id?: string) => void;
}

export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const answers = createOpenAnswers(options);
  /** Read while somebody follows it. */
  let feed: ChangeFeed | null = null;
  let readers = 0;

  const enter = (): ChangeFeed => {
    readers += 1;
    return (feed ??= createChangeFeed(options));
  };
  const leave = (): void => {
    readers -= 1;
    if (readers === 0) {
      feed?.close();
      feed = null;
    }
  };

  return {
    get open() {
      return answers.open;
    },
    serve: async (request) => {
      const { after } = request;
      const shared = enter();
      try {
        // never waits: a reader that has just come reads for itself
        const first = await request.pages.read(() =>
          shared.next({ after, page: null }, new AbortController().signal),
        );
        /** Shared pages are read for all; it may wait for one. */
        const nextOf = (cursor: ChangeCursor, signal: AbortSignal) => {
          const next = (): Promise<EncodedChanges> => shared.next(cursor, signal);
          return cursor.page === null ? () => request.pages.read(next) : next;
        };
        await answers.run(request, async ({ write, signal }): Promise<StreamEnd> => {
          let page: EncodedChanges | null = first;
          while (page !== null && !signal.aborted) {
            if (page.bytes !== null) {
              await write(page.bytes);
            }
            request.pages.taken();
            page = await readWhenThere(nextOf(page.cursor, signal), signal);
          }
          return "aborted";
        });
        return "served";
      } finally {
        leave();
      }
    },
    close: answers.close,
  };
}
