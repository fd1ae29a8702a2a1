import type { Feed } from "./feed.ts";
import type { Host } from "./host.ts";
import type { Held } from "./locks.ts";
import { lead } from "./lead.ts";
import { CONNECTING, isSameStatus, type Status } from "./status.ts";
import { readWire, type Wire } from "./wire.ts";

/** What this tab knows and shows of one thing that it follows. */
export interface Followed<State, Event> {
  state(): State | null;
  /** The next event for this tab's readers; it changes the state. */
  take(event: Event): void;
  setStatus(status: Status): void;
}

export interface TabOptions<State, Event> {
  /** Of the channel and of the lock. */
  readonly name: string;
  readonly feed: Feed<State, Event>;
  readonly host: Host;
  readonly followed: Followed<State, Event>;
}

/** A tab that leads has passed on little; a tab that is ahead of it asks again after this long. */
const BEHIND_MS = 300;
/** A leader that was not heard of for so long is asked, and replaced if it does not answer in time. */
const QUIET_MS = 10_000;
const ANSWER_MS = 5000;

/**
 * Follows in this tab, until the signal is aborted. Each tab waits for the lock of the leader; meanwhile it takes what
 * the leader passes on:
 *
 *     asks ──state──> follows ──a gap, or a new leader──> asks
 *       └─────── the lock is granted: leads ────────┘
 */
export async function runTab<State, Event>(
  options: TabOptions<State, Event>,
  signal: AbortSignal,
): Promise<void> {
  const { name, feed, host, followed } = options;
  const channel = host.openChannel(name);
  signal.addEventListener("abort", () => channel.close(), { once: true });
  const post = (message: Wire<Event>): void => {
    if (!signal.aborted) {
      channel.post(message);
    }
  };
  const follower = createFollower(options, post, signal);
  let answer: (() => void) | null = null;
  channel.onMessage((raw) => {
    const message = signal.aborted ? null : readWire<Event>(raw);
    if (message !== null && answer === null) {
      follower.hear(message);
    } else if (message?.kind === "ask") {
      answer?.();
    }
  });
  followed.setStatus(CONNECTING);
  post({ kind: "ask" });

  while (!signal.aborted) {
    const held = await holdLead(options, follower, signal);
    try {
      follower.pause();
      const term = host.newId();
      let k = 0;
      let status = CONNECTING;
      answer = () => {
        const state = followed.state();
        post({ kind: "state", term, k, event: state === null ? null : feed.begin(state), status });
      };
      answer();
      await lead({
        feed,
        host,
        signal: AbortSignal.any([signal, held.lost]),
        state: followed.state,
        publish: (event) => {
          k += 1;
          followed.take(event);
          post({ kind: "event", term, k, event });
        },
        setStatus: (next) => {
          if (!isSameStatus(status, next)) {
            status = next;
            post({ kind: "status", term, status });
          }
          followed.setStatus(next);
        },
      });
      // nothing more can be read: later tabs learn it from this one
      await aborted(AbortSignal.any([signal, held.lost]));
    } catch (error) {
      if (!signal.aborted && !held.lost.aborted) {
        host.report(error);
        followed.setStatus({ kind: "offline", next_at: host.now() + BEHIND_MS, as_of: null });
        await host.pause(BEHIND_MS, signal);
      }
    } finally {
      answer = null;
      held.release();
      follower.resume();
    }
  }
}

/** Waits for its turn, or until the tab whose turn it is does nothing any more: it shows a dialog, for example. */
async function holdLead<State, Event>(
  { name, host: { locks } }: TabOptions<State, Event>,
  follower: { untilSilent(signal: AbortSignal): Promise<boolean> },
  signal: AbortSignal,
): Promise<Held> {
  const waiting = new AbortController();
  const either = AbortSignal.any([signal, waiting.signal]);
  const turn = locks.hold(name, either);
  turn.catch(() => undefined);
  try {
    const isSilent = await Promise.race([turn.then(() => false), follower.untilSilent(either)]);
    if (!isSilent) {
      return await turn;
    }
  } finally {
    waiting.abort();
  }
  turn.then(({ release }) => release()).catch(() => undefined);
  return locks.steal(name, signal);
}

function createFollower<State, Event>(
  { feed, host, followed }: TabOptions<State, Event>,
  post: (message: Wire<Event>) => void,
  signal: AbortSignal,
) {
  /** The leader's events that this tab has. */
  let known: { readonly term: string; readonly k: number } | null = null;
  let isAsked = true;
  let isPaused = false;
  let isWorking = false;
  let turns = 0;
  let heardAt = Number.NEGATIVE_INFINITY;
  let waiting: Wire<Event>[] = [];

  const ask = (): void => {
    known = null;
    if (!isAsked) {
      isAsked = true;
      post({ kind: "ask" });
    }
  };
  const askLater = async (): Promise<void> => {
    known = null;
    isAsked = true;
    await host.pause(BEHIND_MS, signal);
    isAsked = false;
    if (known === null && !isPaused && !signal.aborted) {
      ask();
    }
  };
  /** False if it is not time for the event yet. */
  const take = (event: Event | null, isCurrent: () => boolean): boolean | Promise<boolean> => {
    const arrived = event === null ? [] : feed.arrive(followed.state(), event);
    const pass = (events: readonly Event[] | null): boolean => {
      if (isCurrent()) {
        events?.forEach(followed.take);
      }
      return events !== null;
    };
    return arrived instanceof Promise ? arrived.then(pass) : pass(arrived);
  };
  const handle = async (message: Wire<Event>, isCurrent: () => boolean): Promise<void> => {
    if (message.kind === "ask") {
      return;
    }
    const { kind, term } = message;
    if (kind === "status") {
      if (known?.term === term) {
        followed.setStatus(message.status);
      } else {
        ask();
      }
      return;
    }
    const { k, event } = message;
    const isOld = known?.term === term && known.k >= k;
    const isNext = known?.term === term && k === known.k + 1;
    if (kind === "event" && !isOld && !isNext) {
      ask();
      return;
    }
    isAsked = kind === "state" ? false : isAsked;
    const isTaken = isOld || (await take(event, isCurrent));
    if (!isCurrent()) {
      return;
    }
    if (!isTaken) {
      void askLater();
      return;
    }
    known = isOld ? known : { term, k };
    if (kind === "state") {
      followed.setStatus(message.status);
    }
  };
  const workOff = async (turn: number): Promise<void> => {
    const isCurrent = (): boolean => turn === turns && !signal.aborted;
    for (let next = waiting.shift(); next !== undefined && isCurrent(); next = waiting.shift()) {
      try {
        await handle(next, isCurrent);
      } catch {
        // what was missing could not be read: the leader's state comes again
        if (isCurrent()) {
          void askLater();
        }
      }
    }
    isWorking = turn === turns ? false : isWorking;
  };
  /** What is read for a message of before may come late, or never. */
  const drop = (): void => {
    turns += 1;
    waiting = [];
    isWorking = false;
  };

  return {
    hear: (message: Wire<Event>): void => {
      heardAt = message.kind === "ask" ? heardAt : host.now();
      waiting.push(message);
      if (!isWorking) {
        isWorking = true;
        void workOff(turns);
      }
    },
    /** True once the tab that leads does not even answer; false if the signal is aborted before. */
    untilSilent: async (signal: AbortSignal): Promise<boolean> => {
      // it was asked when this tab began to follow
      let askedAt = host.now();
      while (!signal.aborted) {
        await host.pause(ANSWER_MS, signal);
        if (heardAt < askedAt && host.now() - askedAt >= ANSWER_MS) {
          return !signal.aborted;
        }
        if (host.now() - heardAt >= QUIET_MS) {
          askedAt = host.now();
          post({ kind: "ask" });
        }
      }
      return false;
    },
    /** From now on this tab leads, and hears nothing. */
    pause: (): void => {
      isPaused = true;
      drop();
    },
    resume: (): void => {
      isPaused = false;
      isAsked = false;
      drop();
      ask();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) {
    resolve();
  }
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}
