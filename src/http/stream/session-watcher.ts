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
 * Wakes streams when they should read. This process's commits wake their sessions at once; other processes'
 * are found by ONE poll every `pollMs`, however many streams there are, and only while there is
 * one. All of it are hints: what is sent is always read from the table.
 */
export function createSessionWatcher(options: SessionWatcherOptions): SessionWatcher {
  const sessions = new Map<string, WatchedSession>();
  let stopPolling: (() => void) | null = null;
  const stopListening = options.store.onCommit((ids) => {
    for (const id of ids) {
      sessions.get(id)?.wake();
    }
  });

  const leave = (sessionId: string, subscriber: Subscriber): void => {
    const session = sessions.get(sessionId);
    session?.subscribers.delete(subscriber);
    if (session?.subscribers.size === 0) {
      sessions.delete(sessionId);
    }
    if (sessions.size === 0) {
      stopPolling?.();
      stopPolling = null;
    }
  };

  return {
    get watched() {
      return sessions.size;
    },
    subscribe: (sessionId) => {
      const session = sessions.get(sessionId) ?? watchedSession();
      sessions.set(sessionId, session);
      stopPolling ??= startPolling(options, sessions);
      const subscriber = createSubscriber();
      session.subscribers.add(subscriber);
      return { ...subscriber, close: () => leave(sessionId, subscriber) };
    },
    close: () => {
      stopListening();
      stopPolling?.();
      stopPolling = null;
    },
  };
}

interface WatchedSession {
  readonly subscribers: Set<Subscriber>;
  /** As of the last poll; null before the first one. */
  seen: ReadPosition | null;
  wake(): void;
}

function watchedSession(): WatchedSession {
  const subscribers = new Set<Subscriber>();
  return {
    subscribers,
    seen: null,
    wake: () => {
      for (const subscriber of subscribers) {
        subscriber.wake();
      }
    },
  };
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

/** Polls every `pollMs`, never twice at a time. Returns the function that stops it. */
function startPolling(
  { store, pollMs, onFailure }: SessionWatcherOptions,
  sessions: ReadonlyMap<string, WatchedSession>,
): () => void {
  // a poll that failed has used up `mayHaveChanged`'s answer: it is kept until one succeeds
  let changed = true;
  const poll = async (): Promise<void> => {
    changed = (await store.mayHaveChanged()) || changed;
    if (!changed) {
      return;
    }
    const progress = await store.read(readProgress, { session_ids: [...sessions.keys()] });
    changed = false;
    const seen = new Map(progress.map((each) => [each.id, each]));
    for (const [id, session] of sessions) {
      note(session, seen.get(id));
    }
  };
  let stopped = false;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;
  const pollOnce = async (): Promise<void> => {
    try {
      await poll();
      failing = false;
    } catch (error) {
      // twice a second for as long as the database is away would add nothing
      if (!failing) {
        failing = true;
        onFailure(error);
      }
    }
  };
  const schedule = (): void => {
    timer = setTimeout(() => {
      void pollOnce().finally(() => {
        if (!stopped) {
          schedule();
        }
      });
    }, pollMs);
  };
  schedule();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** A session that is there no more wakes its streams too: they find out when they read. */
function note(session: WatchedSession, now: ReadPosition | undefined): void {
  const { seen } = session;
  if (now === undefined || seen?.last_seq !== now.last_seq || seen.state !== now.state) {
    session.seen = now ?? null;
    session.wake();
  }
}
