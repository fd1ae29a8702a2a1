import type { Feed } from "./feed.ts";
import type { Host } from "./host.ts";
import { CONNECTING, isSameStatus, type Status } from "./status.ts";
import { runTab } from "./tab.ts";

export type Listener<State, Event> = (event: Event, state: State) => void;

/** One thing that this tab follows for any number of listeners. */
export interface Topic<State, Event> {
  /** Calls with what the tab knows already, then with each event. Returns what ends it. */
  listen(listener: Listener<State, Event>): () => void;
  readonly listeners: number;
  /** Both do nothing twice. A tab that stops keeps what it knows, and continues there. */
  start(): void;
  stop(): void;
  /** Begins again: what is known was for another login. */
  forget(): void;
}

export interface TopicOptions<State, Event> {
  readonly name: string;
  readonly feed: Feed<State, Event>;
  readonly host: Host;
  readonly onStatus: (status: Status) => void;
}

export function createTopic<State, Event>(
  options: TopicOptions<State, Event>,
): Topic<State, Event> {
  const { feed, host, onStatus } = options;
  const listeners = new Set<Listener<State, Event>>();
  let state: State | null = null;
  let status = CONNECTING;
  let running: AbortController | null = null;

  const call = (listener: Listener<State, Event>, event: Event, now: State): void => {
    try {
      listener(event, now);
    } catch (error) {
      host.report(error);
    }
  };
  const followed = {
    state: () => state,
    take: (event: Event): void => {
      state = feed.fold(state, event);
      if (state !== null) {
        for (const listener of listeners) {
          call(listener, event, state);
        }
      }
    },
    setStatus: (next: Status): void => {
      if (!isSameStatus(status, next)) {
        status = next;
        onStatus(next);
      }
    },
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      await runTab({ ...options, followed }, signal);
    } catch (error) {
      if (!signal.aborted) {
        host.report(error);
      }
    }
  };

  return {
    get listeners() {
      return listeners.size;
    },
    listen: (listener) => {
      // a listener that is given twice is called twice
      const own: Listener<State, Event> = (event, now) => listener(event, now);
      listeners.add(own);
      if (state !== null) {
        call(own, feed.begin(state), state);
      }
      return () => listeners.delete(own);
    },
    start: () => {
      if (running === null) {
        running = new AbortController();
        void run(running.signal);
      }
    },
    stop: () => {
      running?.abort();
      running = null;
    },
    forget: () => {
      state = null;
      followed.setStatus(CONNECTING);
    },
  };
}
