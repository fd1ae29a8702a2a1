import type { Channel, Clock } from "../../web/streams/host.ts";
import type { Held, Locks } from "../../web/streams/locks.ts";

/** A time that only the test moves on. */
export function createTime() {
  let now = Date.UTC(2026, 0, 1);
  const due = new Set<{ readonly at: number; readonly work: () => void }>();
  const at = (ms: number, work: () => void): (() => void) => {
    const entry = { at: now + ms, work };
    due.add(entry);
    return () => due.delete(entry);
  };
  const clock: Clock = {
    now: () => now,
    pause: (ms, signal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = at(signal.aborted ? 0 : ms, resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      return promise.finally(cancel);
    },
  };
  const advance = (ms: number): void => {
    now += ms;
    for (const entry of [...due].filter(({ at }) => at <= now)) {
      due.delete(entry);
      entry.work();
    }
  };
  return { clock, advance };
}

/** Channels between tabs, whose messages arrive in order, when the test says so. */
export function createChannels() {
  interface End {
    readonly name: string;
    readonly tab: number;
    readonly inbox: unknown[];
    listener: (message: unknown) => void;
  }
  const ends = new Set<End>();
  const waiting = (): End[] => [...ends].filter(({ inbox }) => inbox.length > 0);
  return {
    open: (name: string, tab: number): Channel => {
      const end: End = { name, tab, inbox: [], listener: () => undefined };
      ends.add(end);
      return {
        post: (message) => {
          for (const other of ends) {
            if (other !== end && other.name === name) {
              other.inbox.push(structuredClone(message));
            }
          }
        },
        onMessage: (listener) => {
          end.listener = listener;
        },
        close: () => ends.delete(end),
      };
    },
    /** The channels of a tab that is gone. */
    drop: (tab: number): void => {
      for (const end of ends) {
        if (end.tab === tab) {
          ends.delete(end);
        }
      }
    },
    /** Delivers one message, of the tab that `choose` names; false without any. */
    deliver: (choose: (count: number) => number): boolean => {
      const found = waiting();
      const end = found[choose(found.length)];
      end?.listener(end.inbox.shift());
      return end !== undefined;
    },
  };
}

/** As the browser's: the tabs wait in the order of their requests. */
export function createLocks(): Locks {
  interface Turn {
    readonly lost: AbortController;
    readonly take: () => void;
  }
  const queues = new Map<string, Turn[]>();
  const queueOf = (name: string): Turn[] => {
    const queue = queues.get(name) ?? [];
    queues.set(name, queue);
    return queue;
  };
  const enter = (name: string, isFirst: boolean) => {
    const queue = queueOf(name);
    const taken = Promise.withResolvers<void>();
    const turn: Turn = { lost: new AbortController(), take: taken.resolve };
    if (isFirst) {
      queue.shift()?.lost.abort();
    }
    queue.splice(isFirst ? 0 : queue.length, 0, turn);
    queue[0]?.take();
    const release = (): void => {
      const at = queue.indexOf(turn);
      if (at >= 0) {
        queue.splice(at, 1);
      }
      queue[0]?.take();
    };
    return { taken, held: { lost: turn.lost.signal, release } satisfies Held };
  };
  return {
    hold: async (name, signal) => {
      signal.throwIfAborted();
      const { taken, held } = enter(name, false);
      const refuse = (): void => {
        held.release();
        taken.reject(signal.reason);
      };
      signal.addEventListener("abort", refuse, { once: true });
      await taken.promise;
      signal.removeEventListener("abort", refuse);
      return held;
    },
    steal: async (name) => enter(name, true).held,
  };
}
