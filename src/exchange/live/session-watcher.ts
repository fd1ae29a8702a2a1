import { ChangeCounter } from "../../core/change-counter.ts";
import { readLiveProgress } from "../../store/records/live/live-progress.ts";
import type { Session } from "../../core/sessions.ts";
import { pauseAfter } from "./pause-after.ts";
import { isLiveHint, sessionOfHint } from "../../store/hints.ts";
import { readProgress } from "../../store/records/messages/read.ts";
import type { Store } from "../../store/store.ts";

export interface SessionWatcher {
  /** Begins to watch a session. `close` ends it; every subscription must be closed. */
  subscribe(sessionId: string): Subscription;
  /**
   * Calls `wake` when something may have changed of what the live feed shows of a session. Returns the
   * function that ends it, which must be called.
   */
  watchLive(sessionId: string, wake: (hint: LiveWake) => void): () => void;
  /**
   * Calls `wake` when something may have changed in any session, other than the text of answers. Returns the function
   * that ends it, which must be called.
   */
  watchAll(wake: () => void): () => void;
  /** Sessions that are watched now. */
  readonly watched: number;
  close(): void;
}

/** `progress`: only the text of an answer, or the state of its exchange. */
export type LiveWake = "session" | "progress";

export interface Subscription {
  /** Counts when something may have changed. */
  readonly changes: ChangeCounter;
  /** Takes the `messageMark` of a read that left nothing: a poll that finds the same does not count. */
  hasRead(mark: string): void;
  close(): void;
}

export interface SessionWatcherOptions {
  readonly store: Store;
  /** Time between two polls for what other processes have written. */
  readonly pollMs: number;
  /** Time between two polls for the live feed. */
  readonly livePollMs: number;
  /** Called when a poll fails after one that did not; the next one makes up for it. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Wakes streams when they should read. This process's commits wake their sessions at once; other
 * processes' are found by ONE poll, however many streams there are, and only while
 * there is one. All of it are hints: what is sent is always read from the table.
 */
export function createSessionWatcher(options: SessionWatcherOptions): SessionWatcher {
  const { store, pollMs, livePollMs } = options;
  const messages = createWatchedSessions(readMessageMarks, pollMs);
  const live = createWatchedSessions(readLiveMarks, livePollMs);
  const all = createWatchedDatabase(pollMs);
  const groups = [messages, live, all];
  let polling: Polling | null = null;
  const stopPolling = (): void => {
    polling?.stop();
    polling = null;
  };
  const stopListening = store.onCommit((hints) => {
    for (const hint of hints) {
      const id = sessionOfHint(hint);
      if (isLiveHint(hint)) {
        live.wake(id, "progress");
      } else {
        all.wake();
        messages.wake(id, "session");
        live.wake(id, "session");
      }
    }
  });
  const pollFor = (group: Watched, end: () => void): (() => void) => {
    polling ??= startPolling(options, groups);
    if (group.size === 1) {
      polling.plan();
    }
    return () => {
      end();
      if (groups.every(({ size }) => size === 0)) {
        stopPolling();
      }
    };
  };
  const watch = (group: WatchedSessions, sessionId: string, wake: Wake): (() => void) =>
    pollFor(group, group.add(sessionId, wake));

  return {
    get watched() {
      return messages.size + live.size;
    },
    subscribe: (sessionId) => {
      const changes = new ChangeCounter();
      let read: string | null = null;
      const wake: Wake = (_, mark) => {
        if (mark === null || mark !== read) {
          changes.add();
        }
      };
      const hasRead = (mark: string): void => {
        read = mark;
      };
      return { changes, hasRead, close: watch(messages, sessionId, wake) };
    },
    watchLive: (sessionId, wake) => watch(live, sessionId, wake),
    watchAll: (wake) => pollFor(all, all.add(wake)),
    close: () => {
      stopListening();
      stopPolling();
    },
  };
}

/** `mark`: the session's mark that a poll has found; null if a commit wakes, or the session is gone. */
type Wake = (hint: LiveWake, mark: string | null) => void;
/** Reads of each session that exists a text that differs once there is something to read. */
type ReadMarks = (store: Store, session_ids: string[]) => Promise<ReadonlyMap<string, string>>;

const readMessageMarks: ReadMarks = async (store, session_ids) => {
  const progress = await store.read(readProgress, { session_ids });
  return new Map(progress.map((session) => [session.id, messageMark(session)]));
};

/** Differs once a session has more for the streams of its messages. */
export function messageMark({ last_seq, state }: Pick<Session, "last_seq" | "state">): string {
  return `${last_seq} ${state}`;
}

const readLiveMarks: ReadMarks = (store, session_ids) =>
  store.read(readLiveProgress, { session_ids });

/** Group that is polled for together. */
interface Watched {
  readonly pollMs: number;
  readonly size: number;
  poll(store: Store): Promise<void>;
}

/** Watches all sessions for readers that find out by themselves what changed. */
function createWatchedDatabase(pollMs: number) {
  const wakes = new Set<{ readonly wake: () => void }>();
  const wake = (): void => {
    for (const each of wakes) {
      each.wake();
    }
  };
  return {
    pollMs,
    get size() {
      return wakes.size;
    },
    wake,
    add: (each: () => void): (() => void) => {
      const entry = { wake: each };
      wakes.add(entry);
      return () => {
        wakes.delete(entry);
      };
    },
    poll: (): Promise<void> => Promise.resolve(wake()),
  };
}

type WatchedSessions = ReturnType<typeof createWatchedSessions>;

/** Sessions that are watched for the same: those who watch them, and their marks of the last poll. */
function createWatchedSessions(read: ReadMarks, pollMs: number) {
  const sessions = new Map<string, { readonly wakes: Set<Wake>; mark: string | null }>();
  const wake = (id: string, hint: LiveWake, mark: string | null = null): void => {
    for (const each of sessions.get(id)?.wakes ?? []) {
      each(hint, mark);
    }
  };
  return {
    pollMs,
    get size() {
      return sessions.size;
    },
    wake,
    add: (id: string, each: Wake): (() => void) => {
      const session = sessions.get(id) ?? { wakes: new Set(), mark: null };
      sessions.set(id, session);
      session.wakes.add(each);
      return () => {
        if (session.wakes.delete(each) && session.wakes.size === 0) {
          sessions.delete(id);
        }
      };
    },
    /** A session that is there no more wakes its streams too: they find out when they read. */
    poll: async (store: Store): Promise<void> => {
      const marks = await read(store, [...sessions.keys()]);
      for (const [id, session] of sessions) {
        const mark = marks.get(id) ?? null;
        if (mark === null || session.mark !== mark) {
          session.mark = mark;
          wake(id, "session", mark);
        }
      }
    },
  };
}

interface Polling {
  /** Sleeps no longer than the groups allow that are watched now. */
  plan(): void;
  stop(): void;
}

/** Polls each group in its time, never twice at a time. */
function startPolling(
  { store, onFailure }: SessionWatcherOptions,
  groups: readonly Watched[],
): Polling {
  // a poll that failed has used up `mayHaveChanged`'s answer: it is kept until one succeeds
  const plans = groups.map((group) => ({ group, changed: true, dueAt: nowMs() + group.pollMs }));
  let isStopped = false;
  let failing = false;
  let wakeUp = (): void => undefined;
  const sleep = (): Promise<void> =>
    new Promise((resolve) => {
      const used = plans.filter(({ group }) => group.size > 0);
      const dueAt = Math.min(...used.map((each) => each.dueAt));
      const timer = setTimeout(resolve, Math.max(0, dueAt - nowMs()));
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const pollDue = async (): Promise<void> => {
    const changed = await store.mayHaveChanged();
    for (const plan of plans) {
      plan.changed ||= changed;
    }
    for (const plan of plans.filter(({ dueAt }) => dueAt <= nowMs())) {
      const began = nowMs();
      plan.dueAt = began + plan.group.pollMs;
      if (plan.changed && plan.group.size > 0) {
        await plan.group.poll(store);
        plan.changed = false;
        const ended = nowMs();
        plan.dueAt = Math.max(plan.dueAt, ended + pauseAfter(ended - began));
      }
    }
  };
  const run = async (): Promise<void> => {
    while (!isStopped) {
      await sleep();
      if (isStopped || !plans.some(({ dueAt }) => dueAt <= nowMs())) {
        continue;
      }
      try {
        await pollDue();
        failing = false;
      } catch (error) {
        // twice a second for as long as the database is away would add nothing
        if (!failing) {
          failing = true;
          onFailure(error);
        }
        for (const plan of plans) {
          plan.dueAt = nowMs() + plan.group.pollMs;
        }
      }
    }
  };
  void run();
  return {
    plan: () => wakeUp(),
    stop: () => {
      isStopped = true;
      wakeUp();
    },
  };
}

function nowMs(): number {
  return performance.now();
}
