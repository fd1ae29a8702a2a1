import type { AccessRole } from "../../core/principal.ts";
import type { LivePosition } from "../../core/live/live-position.ts";
import { cursorAt, type LiveCursor } from "../../exchange/live/events-between.ts";
import type { ReadPhases } from "../../store/records/live/read-live-feed.ts";
import type { LiveSource } from "../../exchange/live/live-source.ts";
import { createSessionFeeds, type SessionFeeds } from "../../exchange/live/session-feeds.ts";
import type { Source } from "../../exchange/live/source.ts";
import { createOpenAnswers, type OpenAnswers } from "../stream/open-answers.ts";
import { createServing, type Reader, type Serving } from "../stream/serving.ts";
import type { StreamsOptions } from "../stream/streams.ts";
import { createSharedSteps, type EncodedStep } from "./shared-steps.ts";

export interface FollowedSession {
  readonly session_id: string;
  readonly position: LivePosition;
  /** True to see archived messages too. */
  readonly all: boolean;
  /** Of the caller: see `recordFor`. */
  readonly role: AccessRole;
  /** True if the client has the position from an event: it may have everything. */
  readonly isResumed: boolean;
}

/** Streams of the live feed. */
export interface LiveStreams extends Serving<FollowedSession> {
  readonly open: number;
  readonly events: SessionFeeds<EncodedStep>["events"];
  /** Answers with a stream of the caller's; see `OpenAnswers`. */
  readonly answer: OpenAnswers["run"];
  /** See `Streams`. */
  close(): Promise<void>;
}

export interface LiveStreamsOptions extends StreamsOptions {
  readonly source: LiveSource;
  readonly readPhases: ReadPhases;
}

export function createLiveStreams(options: LiveStreamsOptions): LiveStreams {
  const answers = createOpenAnswers(options);
  const feeds = createSessionFeeds({ ...options, stepsTo: createSharedSteps });
  const open = (followed: FollowedSession): Reader<LiveCursor, EncodedStep> => {
    const { position, isResumed } = followed;
    const { source, close } = feeds.open(followed);
    return {
      source: followed.role === "owner" ? source : sourceForReader(source),
      close,
      start: cursorAt(position),
      startsSmall: false,
      isOver: ({ isLast, isKnown }) => isResumed && isLast && isKnown,
    };
  };
  const { serve, hasMore } = createServing(answers, options.observe, open);

  return {
    get open() {
      return answers.open;
    },
    serve,
    hasMore,
    events: feeds.events,
    answer: answers.run,
    close: answers.close,
  };
}

/** Shows what a caller who may only read gets to see. */
function sourceForReader(source: Source<LiveCursor, EncodedStep>): Source<LiveCursor, EncodedStep> {
  return {
    read: async (cursor) => (await source.read(cursor)).forReader(),
    changed: (cursor, signal) => source.changed(cursor, signal),
  };
}
