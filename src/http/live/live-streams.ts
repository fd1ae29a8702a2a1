import type { Store } from "../../store/store.ts";
import type { LiveEvent } from "../../core/live.ts";
import { type LivePosition, positionAfter } from "../../core/live-position.ts";
import type { Observe } from "../metrics/observation.ts";
import {
  createOpenAnswers,
  type OpenAnswers,
  type StreamAnswer,
  type StreamEnd,
  type StreamOutput,
} from "../stream/open-answers.ts";
import { readWhenThere } from "../stream/read-when-there.ts";
import type { SessionWatcher } from "../stream/session-watcher.ts";
import type { StreamSettings } from "../stream/streams.ts";
import { cursorAt, type LiveCursor } from "./events-between.ts";
import type { LiveSource } from "./live-source.ts";
import { createSessionFeed, type SessionFeed } from "./session-feed.ts";
import type { EncodedStep } from "./shared-steps.ts";

export interface LiveRequest extends StreamAnswer {
  readonly session_id: string;
  readonly position: LivePosition;
  /** True to see archived messages too. */
  readonly all: boolean;
  /** True if the client has the position from an event. */
  readonly isResumed: boolean;
}

export interface LiveStreams {
  readonly open: number;
  /**
   * Answers with the live feed, as `Streams.serve`: `nothing left` only to a client that resumes.
   *
   * Error codes: `session_not_found`, `database_*`, before anything is answered.
   */
  serve(request: LiveRequest): Promise<"nothing left" | "served">;
  /**
   * The events after a message, archived ones included, until nothing will ever follow or the signal is aborted.
   *
   * Error codes: `session_not_found`, `database_*`, for what is read first.
   */
  events(place: LivePlace): AsyncGenerator<LiveEvent, void>;
  /** Answers with a stream of the caller's; see `OpenAnswers`. */
  readonly answer: OpenAnswers["run"];
  /** See `Streams`. */
  hasMore(request: Omit<LiveRequest, keyof StreamAnswer>): Promise<boolean>;
  close(): Promise<void>;
}

export interface LivePlace {
  readonly session_id: string;
  readonly after_seq: number;
  readonly signal: AbortSignal;
}

export interface LiveStreamsOptions extends StreamSettings {
  readonly store: Store;
  readonly watcher: SessionWatcher;
  readonly source: LiveSource;
  readonly observe: Observe;
  readonly onFailure: (error: unknown, id?: string) => void;
}

/** How often it is checked whether processes that run exchanges elsewhere are alive. */
const REFRESH_MS = 15_000;

export function createLiveStreams(options: LiveStreamsOptions): LiveStreams {
  const { observe, watcher } = options;
  const answers = createOpenAnswers(options);
  const feeds = new Map<string, { readonly feed: SessionFeed; readers: number; end: () => void }>();
  let refreshing: ReturnType<typeof setInterval> | null = null;

  const open = (session_id: string) => {
    const known = feeds.get(session_id);
    if (known !== undefined) {
      known.readers += 1;
      return known;
    }
    const feed = createSessionFeed(session_id, options);
    const opened = { feed, readers: 1, end: watcher.watchLive(session_id, feed.hint) };
    feeds.set(session_id, opened);
    refreshing ??= setInterval(() => {
      for (const each of feeds.values()) {
        each.feed.refresh();
      }
    }, REFRESH_MS).unref();
    return opened;
  };
  const leave = (session_id: string, opened: ReturnType<typeof open>): void => {
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
  const withFeed = async <Output>(
    session_id: string,
    use: (feed: SessionFeed) => Promise<Output>,
  ): Promise<Output> => {
    const opened = open(session_id);
    try {
      return await use(opened.feed);
    } finally {
      leave(session_id, opened);
    }
  };

  return {
    get open() {
      return answers.open;
    },
    serve: (request) =>
      withFeed(request.session_id, async (feed) => {
        const { all, position, isResumed } = request;
        const { version } = feed;
        let first: EncodedStep | null = await feed.next(cursorAt(position), all);
        if (isResumed && first.isLast && first.isKnown) {
          return "nothing left";
        }
        const takeFirst = (): EncodedStep | null => {
          const step = first;
          first = null;
          return step;
        };
        await answers.run(request, (output) =>
          sendLive({ ...output, feed, all, observe, takeFirst, version }),
        );
        return "served";
      }),
    hasMore: ({ session_id, position, all, isResumed }) =>
      withFeed(session_id, async (feed) => {
        const { isLast, isKnown } = await feed.next(cursorAt(position), all);
        return !(isResumed && isLast && isKnown);
      }),
    events: async function* ({ session_id, after_seq, signal }) {
      const opened = open(session_id);
      const { feed } = opened;
      try {
        let { version } = feed;
        let step: EncodedStep | null = await feed.next(cursorAt(positionAfter(after_seq)), true);
        while (step !== null) {
          yield* step.events;
          const { cursor, more, isLast }: EncodedStep = step;
          if (isLast || signal.aborted) {
            return;
          }
          if (!more) {
            await feed.changed(version, signal);
          }
          ({ version } = feed);
          step = await readWhenThere(() => feed.next(cursor, true), signal);
        }
      } finally {
        leave(session_id, opened);
      }
    },
    answer: answers.run,
    close: answers.close,
  };
}

interface LiveStream extends StreamOutput {
  readonly feed: SessionFeed;
  readonly all: boolean;
  readonly observe: Observe;
  /** Returns the step that was made before the answer was begun, once. */
  readonly takeFirst: () => EncodedStep | null;
  /** Of the feed before that step. */
  readonly version: number;
}

/** As `sendMessages`: nothing is read before the client has taken what was sent before. */
async function sendLive(stream: LiveStream): Promise<StreamEnd> {
  const { feed, signal } = stream;
  let { version } = stream;
  let sent = await sendStep(stream, stream.takeFirst(), false);
  while (!signal.aborted && sent !== null) {
    if (sent.isLast) {
      return "complete";
    }
    const isUpToDate = !sent.more;
    if (isUpToDate) {
      await feed.changed(version, signal);
    }
    ({ version } = feed);
    sent = await sendNext(stream, sent.cursor, isUpToDate);
  }
  return signal.aborted ? "aborted" : "complete";
}

/** What the loop keeps of a step while it waits. */
interface SentStep extends Pick<EncodedStep, "more" | "isLast"> {
  readonly cursor: LiveCursor;
}

async function sendNext(
  stream: LiveStream,
  cursor: LiveCursor,
  isUpToDate: boolean,
): Promise<SentStep | null> {
  const { feed, all, signal } = stream;
  return sendStep(stream, await readWhenThere(() => feed.next(cursor, all), signal), isUpToDate);
}

async function sendStep(
  { write, observe }: LiveStream,
  step: EncodedStep | null,
  isUpToDate: boolean,
): Promise<SentStep | null> {
  if (step === null) {
    return null;
  }
  const { bytes, cursor, more, isLast, storedMs } = step;
  if (bytes !== null) {
    const written = write(bytes);
    if (storedMs.length > 0) {
      const now = Date.now();
      const lagsMs = isUpToDate ? storedMs.map((stored) => now - stored) : [];
      observe({ kind: "delivery", messages: storedMs.length, lagsMs });
    }
    await written;
  }
  return { cursor, more, isLast };
}
