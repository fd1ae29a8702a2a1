import { setTimeout as sleep } from "node:timers/promises";

import { isRepriseError, RepriseError } from "../core/errors.ts";
import { LEASE_MS } from "../core/limits.ts";
import { failQueued } from "../store/exchanges/change.ts";
import { type ReadyExchange, readReady } from "../store/exchanges/ready.ts";
import { findDead, reviveDead } from "../store/exchanges/revive.ts";
import type { Store } from "../store/store.ts";
import { failureOf } from "./exchange-failure.ts";
import type { Exchanger } from "./exchanger.ts";

export interface DispatcherOptions {
  readonly store: Store;
  /** Called when the first exchange is ready: the agent's libraries are loaded then. */
  readonly openExchanger: () => Promise<Exchanger>;
  /** How many exchanges run at once. */
  readonly jobs: number;
  /** True if this node runs the exchanges of sessions in the folder; null for no folder. */
  readonly serves: (repo_path: string | null) => Promise<boolean>;
  /** Time between two polls of the queue, if no commit of this process says that there is more. */
  readonly pollMs: number;
  /** Time between two searches for exchanges whose process died; `LEASE_MS / 3` by default. */
  readonly reviveMs?: number;
  /** Called with what prevented the dispatcher itself from working. */
  readonly onFailure: (error: unknown) => void;
}

export interface Dispatcher {
  /** Exchanges that run now. */
  readonly running: number;
  /** Begins nothing more, stops what runs and gives it back. Idempotent. */
  close(): Promise<void>;
}

/** Sessions that a node passes over at most, and for how long: their folders may become trusted. */
const MAX_OTHERS = 1000;
const OTHERS_MS = 60_000;

/** What another process, or a person, did first. */
const TAKEN = ["session_busy", "lease_lost", "session_ended", "exchange_changed"] as const;

/**
 * Runs queued exchanges, as many at once as it may. Several nodes take turns: who gets the session's
 * lease runs the exchange. A commit of this process wakes it; what others queue is found by its poll.
 */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, jobs, pollMs, onFailure, reviveMs = LEASE_MS / 3 } = options;
  const running = new Map<string, Promise<void>>();
  /** Sessions of other nodes, by the time at which they are checked again. */
  const others = new Map<string, number>();
  const stopping = new AbortController();
  let wake = new AbortController();
  const wakeUp = (): void => wake.abort();
  const stopListening = store.onCommit(wakeUp);
  let exchanger: Promise<Exchanger> | null = null;

  const reportFailure = (error: unknown): void => {
    if (!isRepriseError(error, "shutting_down")) {
      onFailure(error);
    }
  };

  const run = async (ready: ReadyExchange): Promise<void> => {
    const { session_id, n, revision, has_begun, content, caller, asked_by } = ready;
    try {
      const { exchange } = await (exchanger ??= options.openExchanger());
      await exchange(
        {
          session_id,
          text: content,
          claim: { n, revision, has_begun },
          caller,
          asked_by,
          keep_partial: true,
        },
        { listener: () => undefined, signal: stopping.signal },
      );
    } catch (error) {
      if (!isRepriseError(error, ...TAKEN, "shutting_down")) {
        // it has its reason already if it had begun
        await store.write(failQueued, { session_id, n, revision, failure: failureOf(error) });
      }
    }
  };

  const begin = (ready: ReadyExchange): void => {
    const job = run(ready)
      .catch(onFailure)
      .finally(() => {
        running.delete(ready.session_id);
        wakeUp();
      });
    running.set(ready.session_id, job);
  };

  const fill = async (): Promise<void> => {
    const now = performance.now();
    for (const [id, until] of others) {
      if (until < now) {
        others.delete(id);
      }
    }
    while (running.size < jobs && others.size < MAX_OTHERS) {
      const limit = jobs - running.size;
      const except = [...running.keys(), ...others.keys()];
      const found = await store.read(readReady, { limit, except });
      for (const ready of found) {
        if (await options.serves(ready.repo_path)) {
          begin(ready);
        } else {
          others.set(ready.session_id, now + OTHERS_MS);
        }
      }
      if (found.length < limit) {
        return;
      }
    }
  };

  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      try {
        await fill();
      } catch (error) {
        reportFailure(error);
      }
      const signal = AbortSignal.any([wake.signal, stopping.signal]);
      await sleep(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const working = work();
  const revive = async (): Promise<void> => {
    for (const id of await store.read(findDead, null)) {
      if (!running.has(id)) {
        await store.write(reviveDead, { id });
      }
    }
  };
  const reviving = setInterval(() => void revive().catch(reportFailure), reviveMs);
  reviving.unref();
  void revive().catch(reportFailure);

  return {
    get running() {
      return running.size;
    },
    close: async () => {
      stopListening();
      clearInterval(reviving);
      stopping.abort(new RepriseError("shutting_down", "The service is stopping."));
      await working;
      await Promise.all(running.values());
    },
  };
}
