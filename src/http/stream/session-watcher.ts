import { setTimeout as sleep } from "node:timers/promises";

import { type ReadPosition, readProgress } from "../../store/messages/read.ts";
import type { Store } from "../../store/store.ts";

export interface SessionWatcher {
  /** Begins to watch a session. `close` ends it; every subscription must be closed. */
  subscribe(sessionId: string): Subscription;
  /** Sessions that are watched now. */
  readonly watched: number;
  close(): void;
}

export interface Subscription {
  /** Forgets the hints so far. Called before each read, so that none after it is lost. */
  clear(): void;
  /** Resolves once something may have changed since `clear`, or the signal is aborted. */
  changed(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface SessionWatcherOptions {
  readonly store: Store;
  /** Time between two polls for what other processes have written. */
  readonly pollMs: number;
  /** Called when a poll fails after one that did not; the next one makes up for it. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Wakes streams when they should read. This process's commits wake their sessions at once; other
 * processes' are found by ONE poll every `pollMs`, however many streams there are, and only while
 * there is one. All of it are hints: what is sent is always read from the table.
 */
export function createSessionWatcher(options: SessionWatcherOptions): SessionWatcher {
  const sessions = new Map<string, WatchedSession>();
  let polling: AbortController | null = null;
  const stopPolling = (): void => {
    polling?.abort();
    polling = null;
  };
  const stopListening = options.store.onCommit((ids) => {
    for (const id of ids) {
      wake(sessions.get(id));
    }
  });

  return {
    get watched() {
      return sessions.size;
    },
    subscribe: (sessionId) => {
      const session = sessions.get(sessionId) ?? { subscribers: new Set(), seen: null };
      sessions.set(sessionId, session);
      if (polling === null) {
        polling = new AbortController();
        void pollUntil(polling.signal, { ...options, sessions });
      }
      const subscriber = createSubscriber();
      session.subscribers.add(subscriber);
      const close = (): void => {
        if (session.subscribers.delete(subscriber) && session.subscribers.size === 0) {
          sessions.delete(sessionId);
        }
        if (sessions.size === 0) {
          stopPolling();
        }
      };
      return { ...subscriber, close };
    },
    close: () => {
      stopListening();
      stopPolling();
    },
  };
}

interface WatchedSession {
  readonly subscribers: Set<Subscriber>;
  /** As of the last poll; null before the first one. */
  seen: ReadPosition | null;
}

function wake(session: WatchedSession | undefined): void {
  for (const subscriber of session?.subscribers ?? []) {
    subscriber.wake();
  }
}

interface Subscriber extends Omit<Subscription, "close"> {
  wake(): void;
}

function createSubscriber(): Subscriber {
  let hinted = false;
  let resume: (() => void) | null = null;
  return {
    clear: () => {
      hinted = false;
    },
    wake: () => {
      hinted = true;
      resume?.();
    },
    changed: async (signal) => {
      if (hinted || signal.aborted) {
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = (): void => resolve();
      resume = stop;
      signal.addEventListener("abort", stop);
      await promise;
      signal.removeEventListener("abort", stop);
      resume = null;
    },
  };
}

interface Polling extends SessionWatcherOptions {
  readonly sessions: ReadonlyMap<string, WatchedSession>;
}

/** Polls every `pollMs`, never twice at a time. */
async function pollUntil(
  signal: AbortSignal,
  { store, sessions, pollMs, onFailure }: Polling,
): Promise<void> {
  // a poll that failed has used up `mayHaveChanged`'s answer: it is kept until one succeeds
  let changed = true;
  let failing = false;
  await sleep(pollMs, null, { signal }).catch(() => null);
  while (!signal.aborted) {
    try {
      changed = (await store.mayHaveChanged()) || changed;
      if (changed) {
        const progress = await store.read(readProgress, { session_ids: [...sessions.keys()] });
        changed = false;
        note(sessions, progress);
      }
      failing = false;
    } catch (error) {
      // twice a second for as long as the database is away would add nothing
      if (!failing) {
        failing = true;
        onFailure(error);
      }
    }
    await sleep(pollMs, null, { signal }).catch(() => null);
  }
}

/** A session that is there no more wakes its streams too: they find out when they read. */
function note(
  sessions: ReadonlyMap<string, WatchedSession>,
  progress: readonly ReadPosition[],
): void {
  const positions = new Map(progress.map((each) => [each.id, each]));
  for (const [id, session] of sessions) {
    const { seen } = session;
    const now = positions.get(id);
    if (now === undefined || seen?.last_seq !== now.last_seq || seen.state !== now.state) {
      session.seen = now ?? null;
      wake(session);
    }
  }
}
