import { cursorAt, type LiveCursor } from "../../exchange/live/events-between.ts";
import type { LiveSource } from "../../exchange/live/live-source.ts";
import { readWhenThere } from "../../exchange/live/read-when-there.ts";
import type { SessionFeed } from "../../exchange/live/session-feed.ts";
import { createSessionFeeds, type SessionFeeds } from "../../exchange/live/session-feeds.ts";
import type { SessionWatcher } from "../../exchange/live/session-watcher.ts";
import type { LivePosition } from "../../core/live-position.ts";
import type { Store } from "../../store/store.ts";
import type { Observe } from "../metrics/observation.ts";
import type { PagesInTurn } from "../unsent/pages-in-turn.ts";
import {
  createOpenAnswers,
  type OpenAnswers,
  type StreamAnswer,
  type StreamEnd,
  type StreamOutput,
} from "../stream/open-answers.ts";
import type { StreamSettings } from "../stream/streams.ts";
import { createSharedSteps, type EncodedStep } from "./shared-steps.ts";

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
  readonly events: SessionFeeds<EncodedStep>["events"];
  /** Answers with a stream of the caller's; see `OpenAnswers`. */
  readonly answer: OpenAnswers["run"];
  /** See `Streams`. */
  hasMore(request: Omit<LiveRequest, keyof StreamAnswer>): Promise<boolean>;
  close(): Promise<void>;
}

export interface LiveStreamsOptions extends StreamSettings {
  readonly store: Store;
  readonly watcher: SessionWatcher;
  readonly source: LiveSource;
  readonly observe: Observe;
  readonly onFailure: (error: unknown, id?: string) => void;
}

export function createLiveStreams(options: LiveStreamsOptions): LiveStreams {
  const { observe } = options;
  const answers = createOpenAnswers(options);
  const feeds = createSessionFeeds({ ...options, stepsTo: createSharedSteps });

  return {
    get open() {
      return answers.open;
    },
    serve: (request) =>
      feeds.use(request.session_id, async (feed) => {
        const { all, position, isResumed } = request;
        const { version } = feed;
        const { pages } = request;
        let first: EncodedStep | null = await pages.read(() => feed.next(cursorAt(position), all));
        if (isResumed && first.isLast && first.isKnown) {
          return "nothing left";
        }
        const takeFirst = (): EncodedStep | null => {
          const step = first;
          first = null;
          return step;
        };
        await answers.run(request, (output) =>
          sendLive({ ...output, feed, all, observe, takeFirst, version, pages }),
        );
        return "served";
      }),
    hasMore: ({ session_id, position, all, isResumed }) =>
      feeds.use(session_id, async (feed) => {
        const { isLast, isKnown } = await feed.next(cursorAt(position), all);
        return !(isResumed && isLast && isKnown);
      }),
    events: feeds.events,
    answer: answers.run,
    close: answers.close,
  };
}

interface LiveStream extends StreamOutput {
  readonly feed: SessionFeed<EncodedStep>;
  readonly all: boolean;
  readonly observe: Observe;
  /** Returns the step that was made before the answer was begun, once. */
  readonly takeFirst: () => EncodedStep | null;
  /** Of the feed before that step. */
  readonly version: number;
  readonly pages: PagesInTurn;
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
  const { feed, all, signal, pages } = stream;
  const next = (): Promise<EncodedStep> => feed.next(cursor, all);
  const step = await readWhenThere(isUpToDate ? next : () => pages.read(next), signal);
  return sendStep(stream, step, isUpToDate);
}

async function sendStep(
  { write, observe, pages }: LiveStream,
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
  pages.taken();
  return { cursor, more, isLast };
}
