import type { Store } from "../../store/store.ts";
import type { Observe } from "../metrics/observation.ts";
import { createOpenAnswers, type StreamAnswer } from "./open-answers.ts";
import { sendMessages } from "./stream.ts";
import { createPageReader, type EventPage, type StreamPosition } from "./stream-pages.ts";
import type { SessionWatcher } from "../../exchange/live/session-watcher.ts";

export interface Streams {
  /** Streams that are open, and sessions that are watched for them. */
  readonly open: number;
  readonly watched: number;
  /**
   * Answers with a stream from the position on, or with `nothing left` and no response if the
   * session has ended and nothing follows. A failure after the answer began cuts the
   * connection: the client resumes by its last id.
   *
   * Error codes: `session_not_found`, `database_*`, before anything is answered.
   */
  serve(request: StreamRequest): Promise<"nothing left" | "served">;
  /**
   * False for an ended session with nothing after the position: `serve` would send nothing.
   *
   * Error codes: `session_not_found`, `database_*`.
   */
  hasMore(position: StreamPosition): Promise<boolean>;
  /**
   * Closes the connection of every stream after a whole message, without the end of its answer, so
   * that clients reconnect; refuses new ones. Idempotent.
   */
  close(): Promise<void>;
}

export interface StreamRequest extends StreamAnswer {
  readonly position: StreamPosition;
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
  const { watcher } = options;
  const answers = createOpenAnswers(options);
  const readPage = createPageReader(options.store, options.unsentBytes);

  const serve = async (request: StreamRequest): Promise<"nothing left" | "served"> => {
    const { position } = request;
    const subscription = watcher.subscribe(position.session_id);
    try {
      // what is large is read in its turn
      let first: EventPage | null = await readPage({ ...position, small: true });
      if (isOver(first)) {
        return "nothing left";
      }
      const takeFirst = (): EventPage | null => {
        const page = first;
        first = null;
        return page;
      };
      await answers.run(request, (output) =>
        sendMessages({
          ...output,
          readPage,
          observe: options.observe,
          subscription,
          position,
          takeFirst,
          pages: request.pages,
        }),
      );
      return "served";
    } finally {
      subscription.close();
    }
  };

  return {
    get open() {
      return answers.open;
    },
    get watched() {
      return watcher.watched;
    },
    serve,
    hasMore: async (position) => !isOver(await readPage({ ...position, small: true })),
    close: answers.close,
  };
}

function isOver({ state, bytes, more }: EventPage): boolean {
  return state === "ended" && bytes === null && !more;
}
