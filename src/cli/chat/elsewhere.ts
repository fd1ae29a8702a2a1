import { setImmediate } from "node:timers/promises";

import { followExchange } from "../../core/live/follow-exchange.ts";
import type { LiveEvent } from "../../core/schemas/live.ts";
import type { ExchangeInfo, QuestionInfo } from "../../core/schemas/schemas.ts";
import { isRepriseError } from "../../core/errors.ts";
import type { Session } from "../../core/sessions.ts";
import { readMessagesAfter } from "../../store/records/messages/read.ts";
import { readQuestion } from "../../store/records/questions/read.ts";
import { NO_PHASES } from "../../exchange/live/live-view.ts";
import type { Store } from "../../store/store.ts";
import { noticeLine } from "../process/context.ts";
import { shortened } from "../output/tool-lines.ts";
import type { FollowView, Front } from "./front.ts";
import type { Talk } from "./talk.ts";

export interface WatchContext extends Pick<Talk, "cli" | "conversation"> {
  readonly store: Store;
}

/** Watches what other processes do in the session that a terminal has open. */
export interface Elsewhere {
  /** Begins to wait for an exchange of another process, while a prompt is shown. */
  wait(): Waiting;
  /** Shows it until it ends, waits for an answer, or Ctrl-C; null unless it has ended or waits. */
  show(front: Front): Promise<ExchangeInfo | null>;
}

export interface Waiting {
  /** Aborted once there is an exchange to show. */
  readonly news: AbortSignal;
  /** Ends it. */
  readonly stop: () => void;
}

interface Found extends Waiting {
  readonly session: Session | null;
  readonly events: AsyncGenerator<LiveEvent, void>;
  /** Events that came before the news, and are shown with it. */
  readonly early: LiveEvent[];
  /** The exchange of the news. */
  exchange: ExchangeInfo | null;
  /** True if it was over, or its end, before the terminal began to wait. */
  isMissed: boolean;
}

/** Messages that may come before the exchange that they belong to is known. */
const MAX_EARLY = 200;

export function createElsewhere({ cli, conversation, store }: WatchContext): Elsewhere {
  /** The exchange of which a person does not want to see more. */
  let left = 0;
  /** The session of that exchange: the conversation may continue in a fork. */
  let watched: string | null = null;
  let found: Found | null = null;

  const showMissed = async (
    session: Session,
    exchange: ExchangeInfo,
    view: FollowView,
  ): Promise<void> => {
    const after_seq = Math.max((exchange.first_seq ?? 1) - 1, session.last_seq);
    const page = { session_id: session.id, after_seq, all: false, limit: MAX_EARLY };
    for (const message of await store.read(readMessagesAfter, page)) {
      view.showMessage(message);
    }
    view.show({ id: "", event: "exchange", data: exchange });
  };
  /** Null if it was left, or the session is gone. */
  const showAll = async (
    { early, events }: Found,
    begun: ExchangeInfo,
    view: FollowView,
  ): Promise<ExchangeInfo | null> => {
    let last = begun;
    const reads = {
      // an exchange that never began is shown too; one that a node may continue is over: the person may type meanwhile
      read: () => Promise.resolve({ ...last, first_seq: last.first_seq ?? 0, queued_at: null }),
      live: async function* () {
        for await (const event of both(early, events)) {
          last = exchangeOf(event) ?? last;
          yield event;
        }
      },
    };
    for await (const step of followExchange(reads, begun)) {
      if (step.event === "over") {
        return step.exchange;
      }
      if (step.event !== "queued" && step.event !== "begun") {
        view.show(step);
      }
    }
    left = last.n;
    return null;
  };

  return {
    wait: () => {
      const ended = new AbortController();
      const news = new AbortController();
      const session = conversation.current();
      left = session?.id === watched ? left : 0;
      watched = session?.id ?? null;
      const events = eventsOf(store, session?.id ?? null, ended.signal);
      const stop = (): void => {
        ended.abort();
        void events.return();
      };
      const next: Found = {
        news: news.signal,
        stop,
        session,
        events,
        early: [],
        exchange: null,
        isMissed: false,
      };
      found = next;
      untilNews(next, left).then(
        (isThere) => {
          if (isThere) {
            news.abort();
          }
        },
        (error: unknown) => {
          // a prompt works without it; what a person sends shows what is wrong
          if (!isRepriseError(error)) {
            throw error;
          }
        },
      );
      return next;
    },
    show: async (front) => {
      const shown = found;
      if (shown === null || shown.session === null || shown.exchange === null) {
        return null;
      }
      const { exchange, isMissed, session, stop } = shown;
      let wasLeft = false;
      const view = await front.follow();
      front.onInterrupt(() => {
        wasLeft = true;
        stop();
      });
      front.leaving.addEventListener("abort", stop);
      try {
        if (isMissed) {
          noticeLine(cli, "Another process ran an exchange of this session meanwhile.");
          await showMissed(session, exchange, view);
          return exchange;
        }
        noticeLine(
          cli,
          "Another process runs an exchange of this session. Ctrl-C ends this view; /stop then stops the exchange.",
        );
        const end = await showAll(shown, exchange, view);
        if (wasLeft && end === null) {
          noticeLine(cli, "\nThe exchange continues; /stop stops it.");
        }
        return end;
      } finally {
        view.end();
        front.onInterrupt(null);
        front.leaving.removeEventListener("abort", stop);
        stop();
        await conversation.refresh().catch(() => null);
      }
    },
  };
}

/** True once another process runs an exchange after `left`, or has run one that the terminal has not seen. */
async function untilNews(found: Found, left: number): Promise<boolean> {
  const { early, events, session } = found;
  let known = left;
  for (;;) {
    const { done, value: event } = await events.next();
    if (done === true) {
      return false;
    }
    const exchange = exchangeOf(event);
    const isRunning = exchange?.state === "running";
    const isSnapshot = event.event === "snapshot";
    if (isRunning || !isSnapshot) {
      early.push(event);
      early.splice(0, early.length - MAX_EARLY);
    }
    if (exchange === null || exchange.state === "queued") {
      continue;
    }
    const { n, first_seq, last_seq } = exchange;
    // an exchange that waits has no last message
    const seq = last_seq ?? first_seq ?? 0;
    if (isSnapshot && !isRunning && n > left && seq > (session?.last_seq ?? 0)) {
      found.exchange = exchange;
      found.isMissed = true;
      return true;
    }
    // a short one may be over when it is seen first
    if (n > left && (isRunning || (!isSnapshot && n > known))) {
      found.exchange = exchange;
      return true;
    }
    known = Math.max(known, n);
  }
}

/** Calls `onEnd` once a question has ended, also if that was before, until the signal is aborted. Never rejects. */
export async function watchQuestion(
  store: Store,
  question: { readonly id: string; readonly session_id: string },
  { signal, onEnd }: { readonly signal: AbortSignal; readonly onEnd: (how: string) => void },
): Promise<void> {
  try {
    for await (const { event, data } of eventsOf(store, question.session_id, signal)) {
      const isGone = event === "snapshot" && !data.questions.some(({ id }) => id === question.id);
      const isEnded = event === "question" && data.id === question.id && data.state !== "open";
      if (!signal.aborted && (isGone || isEnded)) {
        // the question may have ended before the snapshot
        onEnd(endOf(isEnded ? data : await store.read(readQuestion, question.id)));
        return;
      }
    }
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
  }
}

function endOf({ state, answer }: Pick<QuestionInfo, "state" | "answer">): string {
  return state === "answered"
    ? `Answered elsewhere: ${shortened(answer ?? "")}`
    : "The question needs no answer any more.";
}

/** Begins with the exchange that runs, else with what is new. Nothing of it is loaded before a prompt is shown. */
async function* eventsOf(
  store: Store,
  session_id: string | null,
  signal: AbortSignal,
): AsyncGenerator<LiveEvent, void> {
  await setImmediate();
  if (session_id === null || signal.aborted) {
    return;
  }
  const { followSession } = await import("../../exchange/live/follow-session.ts");
  const { beginningOf } = await import("../../store/records/live/beginning-of.ts");
  const after_seq = await store.read(beginningOf, { session_id });
  const place = { session_id, after_seq, all: false, signal };
  yield* followSession(store, { ...place, readPhases: NO_PHASES, onFailure: () => undefined });
}

function exchangeOf({ event, data }: LiveEvent): ExchangeInfo | null {
  return event === "exchange" ? data : event === "snapshot" ? data.exchange : null;
}

async function* both(
  early: readonly LiveEvent[],
  events: AsyncGenerator<LiveEvent, void>,
): AsyncGenerator<LiveEvent, void> {
  yield* early;
  yield* events;
}
