import { setTimeout as sleep } from "node:timers/promises";

import { isRepriseError, RepriseError } from "../../core/errors.ts";
import { LEASE_MS } from "../../core/limits.ts";
import { failQueued } from "../../store/records/exchanges/change.ts";
import { type NextToRun, readNextToRun } from "../../store/records/exchanges/next-to-run.ts";
import {
  findDead,
  findUnready,
  makeReady,
  reviveDead,
} from "../../store/records/exchanges/revive.ts";
import { isOfNoExchange } from "../../store/hints.ts";
import { notConfirmed } from "../../store/records/messages/refuse-unconfirmed.ts";
import type { Store } from "../../store/store.ts";
import { keepAnswering } from "../answer-due.ts";
import { failureOf, isLacking, isPassing } from "../exchange-failure.ts";
import type { ExchangeListener } from "../events.ts";
import type { Exchanger } from "../exchanger.ts";
import { createReadyScan } from "./ready-scan.ts";

export interface DispatcherOptions {
  readonly store: Store;
  /** Called when the first exchange is ready: the agent's libraries are loaded then. */
  readonly openExchanger: () => Promise<Exchanger>;
  /** How many exchanges run at once. */
  readonly jobs: number;
  /** See `ReadyScanOptions`; the built-in agent if it is not given. */
  readonly agent?: string | null;
  readonly serves: (repo_path: string | null) => Promise<boolean>;
  /** Time between two polls of the queue, if no commit of this process says that there is more. */
  readonly pollMs: number;
  /** Time between two searches for exchanges whose process died; `LEASE_MS / 3` by default. */
  readonly reviveMs?: number;
  /** Called with each event of the exchanges that run here. */
  readonly onEvent?: ExchangeListener;
  /** Called with what prevented the dispatcher itself from working. */
  readonly onFailure: (error: unknown) => void;
}

export interface Dispatcher {
  /** Exchanges that run now. */
  readonly running: number;
  /** Asks `serves` again about sessions that were left to other nodes. */
  rescan(): void;
  /** Begins nothing more; what runs continues. Idempotent. */
  retire(): void;
  /** Begins nothing more, stops what runs and gives it back. Idempotent. */
  close(): Promise<void>;
}

/** Errors that mean that another process, or a person, was first. */
const TAKEN = [
  "session_busy",
  "lease_lost",
  "session_ended",
  "exchange_changed",
  "agent_differs",
] as const;

/** The longest pause before an exchange that was given back is tried again: each try may call a model. */
const MAX_PAUSE_MS = 60_000;

/**
 * Runs queued exchanges, as many at once as it may. Several nodes take turns: who gets the session's
 * lease runs the exchange. A commit of this process wakes it; what others queue is found by its poll.
 */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, jobs, pollMs, onFailure, agent = null, reviveMs = LEASE_MS / 3 } = options;
  const scan = createReadyScan({ store, agent, serves: options.serves });
  const running = new Map<string, Promise<void>>();
  /** Sessions in which nothing could begin, by the time at which they are tried again. */
  const later = new Map<string, number>();
  /** How often in a row this node, or its database, has prevented the exchange of a session. */
  const prevented = new Map<string, number>();
  const retired = new AbortController();
  const stopping = new AbortController();
  let wake = new AbortController();
  const wakeUp = (): void => wake.abort();
  const stopListening = store.onCommit((ids) => {
    // steps of an exchange commit, too, and make nothing ready
    if (![...ids].every((id) => running.has(id) || isOfNoExchange(id))) {
      wakeUp();
    }
  });
  let exchanger: Promise<Exchanger> | null = null;
  /** Until then nothing begins: this node, or its database, could run no exchange. */
  let pausedUntil = 0;

  const reportFailure = (error: unknown): void => {
    if (!isRepriseError(error, "shutting_down")) {
      onFailure(error);
    }
  };

  const open = async (): Promise<Exchanger> => {
    try {
      return await (exchanger ??= options.openExchanger());
    } catch (error) {
      exchanger = null;
      throw error;
    }
  };

  const exchange = async (
    opened: Exchanger,
    { queued, lease_state, is_unconfirmed }: NextToRun,
  ): Promise<void> => {
    const { session_id, content, n, revision, principal, asked_by } = queued;
    if (is_unconfirmed) {
      throw notConfirmed(session_id);
    }
    await opened.exchange(
      {
        session_id,
        text: content,
        claim: { n, revision },
        lease_state,
        principal,
        asked_by,
        keep_partial: true,
      },
      { listener: options.onEvent ?? (() => undefined), signal: stopping.signal },
    );
  };

  /** False if nothing could begin now. */
  const run = async (session_id: string): Promise<boolean> => {
    // an exchange is not to blame for a node that cannot run any; what is read then is not old when it is used
    const opened = await open();
    const next = await store.read(readNextToRun, { session_id });
    if (next === null) {
      return false;
    }
    try {
      await exchange(opened, next);
    } catch (error) {
      if (isRepriseError(error, ...TAKEN)) {
        return false;
      }
      if (isPassing(error)) {
        throw error;
      }
      if (isLacking(error)) {
        reportFailure(error);
        // there may be many: tried again and again, they would keep this node from all others
        scan.leave(session_id);
        return false;
      }
      if (!isRepriseError(error, "shutting_down")) {
        // an exchange that had begun has its reason already
        await store.write(failQueued, { ...next.queued, failure: failureOf(error) });
      }
    }
    return true;
  };

  const begin = (id: string): void => {
    const job = run(id)
      .then((isDone) => {
        prevented.delete(id);
        return isDone ? null : pollMs;
      })
      .catch((error: unknown) => {
        reportFailure(error);
        pausedUntil = performance.now() + pollMs;
        const times = (prevented.get(id) ?? 0) + 1;
        prevented.set(id, times);
        return Math.min(pollMs * 2 ** (times - 1), MAX_PAUSE_MS);
      })
      .then((pauseMs) => {
        running.delete(id);
        if (pauseMs !== null) {
          later.set(id, performance.now() + pauseMs);
        }
        wakeUp();
      });
    running.set(id, job);
  };

  const fill = async (): Promise<void> => {
    const now = performance.now();
    for (const [id, until] of later) {
      if (until <= now) {
        later.delete(id);
      }
    }
    if (running.size >= jobs) {
      return;
    }
    for await (const { id } of scan.sessions()) {
      if (retired.signal.aborted || performance.now() < pausedUntil) {
        return;
      }
      if (!running.has(id) && !later.has(id)) {
        begin(id);
      }
      if (running.size >= jobs) {
        return;
      }
    }
  };

  const work = async (): Promise<void> => {
    while (!retired.signal.aborted) {
      wake = new AbortController();
      try {
        await fill();
      } catch (error) {
        reportFailure(error);
      }
      const signal = AbortSignal.any([wake.signal, retired.signal]);
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
    for (const id of await store.read(findUnready, null)) {
      await store.write(makeReady, { id });
    }
  };
  const search = (): void => {
    void revive().catch(reportFailure);
  };
  const reviving = setInterval(search, reviveMs);
  reviving.unref();
  search();
  const stopAnswering = keepAnswering({ store, everyMs: reviveMs, onFailure });

  const retire = (): void => {
    stopListening();
    clearInterval(reviving);
    stopAnswering();
    retired.abort();
  };
  return {
    get running() {
      return running.size;
    },
    rescan: () => {
      scan.restart();
      wakeUp();
    },
    retire,
    close: async () => {
      retire();
      stopping.abort(new RepriseError("shutting_down", "The service is stopping."));
      await working;
      await Promise.all(running.values());
    },
  };
}
