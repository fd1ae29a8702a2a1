import { isRepriseError } from "../../core/errors.ts";
import { throwUncaught } from "../../core/uncaught.ts";
import { forgetLive, storeLive } from "../../store/records/live/store-live.ts";
import type { Store } from "../../store/store.ts";
import type { ExchangeListener } from "../events.ts";
import { reportSeldom } from "../report-seldom.ts";
import { type BegunRun, type LiveCurrent, LiveRun } from "./live-run.ts";

/**
 * Activity of the exchanges of this process now, for readers of the same process at once, and for those of others in
 * the database. One for each process that runs exchanges.
 */
export interface Feed {
  /** For one exchange, which reports to it from its beginning to its end. */
  open(session_id: string): LiveReport;
  /** Null if this process runs no exchange of the session. */
  current(session_id: string): LiveCurrent | null;
  /** Calls the listener whenever `current` changes. Returns the function that ends it. */
  subscribe(session_id: string, listener: () => void): () => void;
  /** Stores nothing more. Idempotent. */
  close(): void;
}

export interface LiveReport {
  /** Called when the exchange has its record, and before what is to be shown of it. */
  readonly begun: (run: BegunRun) => void;
  readonly heard: ExchangeListener;
  /** Called with whole lines that a call prints, as they come. */
  readonly printed: (output: Printed) => void;
}

export interface Printed {
  readonly call_id: string;
  readonly text: string;
}

export interface FeedOptions {
  readonly store: Store;
  /** Called with what prevented text from being stored, each kind of failure once a minute. */
  readonly onFailure?: (error: unknown) => void;
  /** Time between two writes. */
  readonly storeMs?: number;
}

/** Readers of other processes see text at most this much later, and a poll. */
const STORE_MS = 250;
/**
 * Time between two changes of what calls have printed, for all readers: as readers of other processes get them, and more
 * often than anybody reads lines.
 */
const OUTPUT_MS = 250;

/**
 * Text is stored in one operation for all exchanges, at most once every `storeMs`: an answer that is complete
 * sooner stores none. An exchange does not fail if its text cannot be stored: it stays in memory until the next
 * write, and the message is stored in any case.
 */
export function createFeed({ store, onFailure, storeMs = STORE_MS }: FeedOptions): Feed {
  const runs = new Map<string, LiveRun>();
  const listeners = new Map<string, Set<() => void>>();
  const reportFailure = reportSeldom((error) => onFailure?.(error));
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const failed = (error: unknown): void => {
    if (!isRepriseError(error, "shutting_down")) {
      reportFailure(error);
    }
  };

  const notify = (session_id: string): void => {
    for (const listener of listeners.get(session_id) ?? []) {
      try {
        listener();
      } catch (error) {
        throwUncaught(error);
      }
    }
  };

  const end = (run: LiveRun): void => {
    if (runs.get(run.session_id) === run) {
      runs.delete(run.session_id);
      notify(run.session_id);
    }
    if (run.hasStored) {
      store.write(forgetLive, run.leftovers).catch(failed);
    }
  };

  const unstored = (): LiveRun[] => [...runs.values()].filter(({ isStored }) => !isStored);

  const storeAll = async (): Promise<void> => {
    const batch = unstored().map((run) => ({ run, ...run.write() }));
    if (batch.length === 0) {
      return;
    }
    const writes = batch.map(({ write }) => write);
    const outcomes = await store.write(storeLive, { writes });
    for (const [index, { run, written }] of batch.entries()) {
      const outcome = outcomes[index] ?? "busy";
      written(outcome);
      if (outcome === "lost") {
        end(run);
      }
    }
  };

  const storeIn = (ms: number): void => {
    if (timer !== null || isClosed) {
      return;
    }
    const later = async (): Promise<void> => {
      const began = performance.now();
      await storeAll().catch(failed);
      timer = null;
      if (unstored().length > 0) {
        storeIn(Math.max(0, storeMs - (performance.now() - began)));
      }
    };
    timer = setTimeout(() => void later(), ms);
    timer.unref();
  };

  return {
    open: (session_id) => {
      let run: LiveRun | null = null;
      let showing: NodeJS.Timeout | null = null;
      let shownAt = -OUTPUT_MS;
      const changed = (): void => {
        storeIn(storeMs);
        notify(session_id);
      };
      const showOutputs = (): void => {
        showing = null;
        shownAt = performance.now();
        if (run?.showOutputs() === true) {
          changed();
        }
      };
      return {
        begun: (begun) => {
          run = new LiveRun(session_id, begun);
          runs.set(session_id, run);
        },
        heard: (event) => {
          if (run === null || !run.heard(event)) {
            return;
          }
          if (run.isOver) {
            clearTimeout(showing ?? undefined);
            end(run);
          } else {
            changed();
          }
        },
        printed: ({ call_id, text }) => {
          run?.printed(call_id, text);
          if (run !== null && showing === null) {
            const ms = Math.max(0, shownAt + OUTPUT_MS - performance.now());
            showing = setTimeout(showOutputs, ms).unref();
          }
        },
      };
    },
    current: (session_id) => runs.get(session_id)?.current ?? null,
    subscribe: (session_id, listener) => {
      const all = listeners.get(session_id) ?? new Set();
      const entry = (): void => listener();
      listeners.set(session_id, all.add(entry));
      return () => {
        all.delete(entry);
        if (all.size === 0 && listeners.get(session_id) === all) {
          listeners.delete(session_id);
        }
      };
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer ?? undefined);
    },
  };
}
