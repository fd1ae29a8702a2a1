import type { SessionWatcher } from "../../exchange/live/session-watcher.ts";
import { CountedSource } from "../../exchange/live/source.ts";
import type { Store } from "../../store/store.ts";
import type { Observe } from "../observation.ts";
import { createOpenAnswers } from "./open-answers.ts";
import { createServing, type Reader, type Serving } from "./serving.ts";
import { createPageReader, type EventPage, type StreamPosition } from "./stream-pages.ts";

/** Streams of the messages of a session, in order of `seq`, until the session has ended. */
export interface Streams extends Serving<StreamPosition> {
  /** Streams that are open, and sessions that are watched for them. */
  readonly open: number;
  readonly watched: number;
  /**
   * Closes the connection of every stream after a whole message, without the end of its answer, so
   * that clients reconnect; refuses new ones. Idempotent.
   */
  close(): Promise<void>;
}

export interface StreamSettings {
  /** Bytes of content that a stream reads at once at most; one larger message comes alone. */
  readonly unsentBytes: number;
  /** A client that takes nothing for so many milliseconds is cut. */
  readonly stallMs: number;
  readonly pollMs: number;
  readonly livePollMs: number;
  /** No stream is silent for longer, in milliseconds. */
  readonly heartbeatMs: number;
}

export interface StreamsOptions extends StreamSettings {
  readonly store: Store;
  readonly watcher: SessionWatcher;
  readonly observe: Observe;
  /** With the id of the request whose stream failed, if it was one. */
  readonly onFailure: (error: unknown, id?: string) => void;
}

export function createStreams(options: StreamsOptions): Streams {
  const { watcher, observe } = options;
  const answers = createOpenAnswers(options);
  const readPage = createPageReader(options.store, options.unsentBytes);
  const open = ({ session_id, after_seq, all }: StreamPosition): Reader<number, EventPage> => {
    const subscription = watcher.subscribe(session_id);
    let isFirst = true;
    const source = new CountedSource(subscription.changes, async (cursor: number) => {
      const place = { session_id, after_seq: cursor, all };
      // a large message is read in its turn
      const page = await readPage(isFirst ? { ...place, small: true } : place);
      isFirst = false;
      if (!page.more) {
        subscription.hasRead(page.mark);
      }
      return page;
    });
    return {
      source,
      start: after_seq,
      startsSmall: true,
      isOver,
      close: subscription.close,
    };
  };
  const { serve, hasMore } = createServing(answers, observe, open);

  return {
    get open() {
      return answers.open;
    },
    get watched() {
      return watcher.watched;
    },
    serve,
    hasMore,
    close: answers.close,
  };
}

function isOver({ isLast, bytes }: EventPage): boolean {
  return isLast && bytes === null;
}
