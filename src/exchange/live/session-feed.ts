import { ChangeCounter } from "../../core/change-counter.ts";
import { codePoints, endOf } from "../../core/text/code-points.ts";
import { fitsPosition } from "../../core/live/live-position.ts";
import { STREAM_PAGE_BYTES, STREAM_PAGE_ROWS } from "../../core/limits.ts";
import type { QuestionInfo } from "../../core/schemas/schemas.ts";
import type { QuestionRecord } from "../../core/sessions.ts";
import type { LiveAnswer } from "../../store/records/live/read-live.ts";
import { isGone, type LeaseOwner } from "../../store/records/leases/this-process.ts";
import {
  type LiveFeedSnapshot,
  readLiveFeed,
  type ReadPhases,
} from "../../store/records/live/read-live-feed.ts";
import type { Store } from "../../store/store.ts";
import type { LiveCursor } from "./events-between.ts";
import type { FeedStep, StepsTo } from "./feed-step.ts";
import type { LiveSource } from "./live-source.ts";
import type { LivePhase, LiveText, LiveView } from "./live-view.ts";
import type { LiveWake } from "./session-watcher.ts";

export interface SessionFeedOptions<Step extends FeedStep> {
  readonly store: Store;
  readonly source: LiveSource;
  /** Bytes of content that a reader gets at once at most; one larger message comes alone. */
  readonly unsentBytes: number;
  /** Called once for each view; what it returns, once for each cursor. */
  readonly stepsTo: StepsTo<Step>;
  readonly readPhases: ReadPhases;
}

/** Reads that the readers of one session share, and each step from the same cursor. */
export interface SessionFeed<Step extends FeedStep> {
  /** Counts when there may be something new. */
  readonly changes: ChangeCounter;
  /** Returns what follows the cursor now. Error codes: `session_not_found`, `database_*`. */
  next(cursor: LiveCursor, all: boolean): Promise<Step>;
  /** For `SessionWatcher.watchLive`. */
  hint(wake: LiveWake): void;
  /**
   * Reads again what time alone changes: whether the process that runs the exchange is alive. One of this
   * machine that is gone is noticed without a read; `read` asks the database in any case.
   */
  refresh(options: { readonly read: boolean }): void;
  close(): void;
}

/** Page that was read for the readers at one position. */
interface Page<Step> {
  readonly snapshot: LiveFeedSnapshot;
  readonly stored: StoredText | null;
  readonly questions: readonly QuestionInfo[];
  readonly phases: readonly LivePhase[];
  /** The steps to it, as of a change of the source. */
  steps: { readonly change: number; readonly next: (cursor: LiveCursor) => Step } | null;
}

/** The text of an answer, as the database has it. */
interface StoredText extends LiveText {
  readonly offset: number;
}

/** Positions whose pages are kept: those of real readers are few, others could be any number. */
const MAX_PAGES = 100;
/** Questions that have ended, and of which a slow reader may not know it. */
const MAX_ENDED = 200;

export function createSessionFeed<Step extends FeedStep>(
  session_id: string,
  { store, source, unsentBytes, stepsTo, readPhases }: SessionFeedOptions<Step>,
): SessionFeed<Step> {
  const pages = new Map<string, Promise<Page<Step>>>();
  const changes = new ChangeCounter();
  const asked = new Set<string>();
  const ended = new Map<string, QuestionRecord>();
  let stored: StoredText | null = null;
  let isRunning = false;
  let runner: LeaseOwner | null = null;
  let seen = source.current(session_id);

  const forget = (): void => {
    pages.clear();
    changes.add();
  };
  const stopListening = source.subscribe(session_id, () => {
    const before = seen;
    seen = source.current(session_id);
    if (isOver(before, seen)) {
      // reads the database again: it has what became of the answer
      forget();
    } else {
      changes.add();
    }
  });

  const read = async (
    cursor: LiveCursor,
    all: boolean,
    asks: string | null,
  ): Promise<Page<Step>> => {
    const before = stored;
    const message_id = asks ?? before?.message_id ?? null;
    const isStored = before !== null && before.message_id === message_id;
    const input = {
      session_id,
      after_seq: cursor.position.seq,
      all,
      max_rows: STREAM_PAGE_ROWS,
      max_bytes: Math.min(STREAM_PAGE_BYTES, unsentBytes),
      text_from:
        message_id === null
          ? null
          : {
              message_id,
              attempt: isStored ? before.attempt : 0,
              offset: isStored ? before.offset : 0,
            },
      asked: [...asked],
      readPhases,
    };
    let snapshot = await store.read(readLiveFeed, input);
    if (snapshot.exchange?.state === "interrupted") {
      // its process may have stored the end and left after this was read, and before it was found to be gone
      snapshot = await store.read(readLiveFeed, input);
    }
    isRunning = snapshot.exchange?.state === "running";
    ({ runner } = snapshot);
    stored = addStored(before, snapshot.live);
    noteQuestions(snapshot);
    const questions = snapshot.questions.map(({ path, ...each }) => ({ ...each, path: [...path] }));
    const phases = snapshot.phases.map((phase) => ({ phase, json: JSON.stringify(phase) }));
    return { snapshot, stored, questions, phases, steps: null };
  };
  const noteQuestions = (snapshot: LiveFeedSnapshot): void => {
    for (const { id } of snapshot.questions) {
      asked.add(id);
    }
    for (const question of snapshot.ended) {
      asked.delete(question.id);
      ended.set(question.id, question);
    }
    // all that ended together, however many: an exchange that is stopped withdraws all of its questions
    const kept = Math.max(MAX_ENDED, snapshot.ended.length);
    for (const id of [...ended.keys()].slice(0, Math.max(0, ended.size - kept))) {
      ended.delete(id);
    }
  };
  /** Who asks before the page is forgotten shares it. */
  const pageAt = (cursor: LiveCursor, all: boolean): Promise<Page<Step>> => {
    const { seq, message_id } = cursor.position;
    const asks = message_id === seen?.message_id ? null : message_id;
    const key = `${seq} ${all} ${asks}`;
    const shared = pages.get(key);
    if (shared !== undefined) {
      return shared;
    }
    const page = read(cursor, all, asks);
    const forgetPage = (): void => {
      if (pages.get(key) === page) {
        pages.delete(key);
      }
    };
    pages.set(key, page);
    for (const old of [...pages.keys()].slice(0, Math.max(0, pages.size - MAX_PAGES))) {
      pages.delete(old);
    }
    page.then(({ snapshot }) => {
      if (snapshot.messages.length > 0) {
        // all that wait for them have them after this turn
        setImmediate(forgetPage);
      }
    }, forgetPage);
    return page;
  };
  const viewOf = ({ snapshot, stored, questions, phases }: Page<Step>): LiveView => {
    const { session, messages, more, answer, exchange, live } = snapshot;
    const here = seen !== null && seen.attempt >= (live?.attempt ?? 0) ? seen : null;
    const text = here ?? stored;
    const arriving = text?.message_id ?? null;
    const isShown = arriving === null || fitsPosition(arriving);
    return {
      session,
      messages,
      more,
      answer,
      exchange,
      questions,
      ended: (id) => ended.get(id) ?? null,
      live: isShown || text === null ? text : { ...text, message_id: null, text: "" },
      state: here?.state ?? live?.state ?? null,
      phases,
    };
  };

  return {
    changes,
    next: async (cursor, all) => {
      for (;;) {
        const before = seen;
        const page = await pageAt(cursor, all);
        // an answer that was over while the page was read may be missing in it
        if (!isOver(before, seen)) {
          if (page.steps?.change !== changes.count) {
            page.steps = { change: changes.count, next: stepsTo(viewOf(page)) };
          }
          return page.steps.next(cursor);
        }
      }
    },
    hint: (kind) => {
      // writes of an exchange of this process are known here before
      if (kind === "session" || seen === null) {
        forget();
      }
    },
    refresh: (options) => {
      const isDue = options.read || (runner !== null && isGone(runner));
      if (isDue && isRunning && seen === null) {
        forget();
      }
    },
    close: stopListening,
  };
}

/** True if an answer was over or void between the two, or the exchange. */
function isOver(before: LiveText | null, now: LiveText | null): boolean {
  return (
    before !== null &&
    (before.attempt !== now?.attempt ||
      (before.message_id !== null && before.message_id !== now.message_id))
  );
}

/** Adds what is stored of the answer now: a read gives only what follows, or somewhat more. */
function addStored(before: StoredText | null, live: LiveAnswer | null): StoredText | null {
  if (live === null) {
    return null;
  }
  const { n, attempt, message_id, offset } = live;
  const known = offset === 0 ? "" : (before?.text ?? "");
  const text = known.slice(0, endOf(known, offset) ?? known.length) + live.text;
  return { n, attempt, message_id, text, offset: codePoints(text) };
}
