import { setTimeout as sleep } from "node:timers/promises";

import { isRepriseError } from "../core/errors.ts";
import type { Session } from "../core/sessions.ts";
import { type PrunedIds, NOTHING_PRUNED } from "../store/checkpoints/plan-prune.ts";
import { isStopAsked } from "../store/records/exchanges/stop-asked.ts";
import { stopHint } from "../store/hints.ts";
import type { Fence } from "../store/records/leases/fence.ts";
import {
  finishExchange,
  type FinishExchange,
  type ExchangeRows,
  readExchangeRows,
} from "../store/checkpoints/finish.ts";
import {
  readLease,
  releaseLease,
  type ReleaseLease,
  renewLease,
} from "../store/records/leases/lease.ts";
import { isGone, type LeaseOwner } from "../store/records/leases/this-process.ts";
import {
  type BegunExchange,
  openExchange,
  type OpenExchange,
} from "../store/records/messages/begin-exchange.ts";
import type { Store } from "../store/store.ts";
import { isPassing } from "./exchange-failure.ts";
import { createTurn } from "./turn.ts";
import { isUnreleased, rememberUnreleased } from "./unreleased.ts";

export interface HeldSession {
  readonly fence: Fence;
  /** As it was when the lease was taken. */
  readonly session: Session;
  /** The exchange that was begun with the lease; null if the caller still has to begin it. */
  readonly begun: BegunExchange | null;
  /** True if the exchange before this one did not finish. */
  readonly wasInterrupted: boolean;
  /** Aborted, with the error as its reason, once the lease could not be kept. */
  readonly lost: AbortSignal;
  /** Aborted once somebody else asked the exchange to stop. */
  readonly stop: AbortSignal;
  /** Renews the lease, and so makes sure that it is held. Error codes: `lease_lost`, `session_ended`. */
  renew(): Promise<void>;
  /** Gives the lease back; see `releaseLease`. */
  release(end: Omit<ReleaseLease, "fence">): Promise<void>;
  /**
   * Releases the lease of a finished exchange and prunes its checkpoints, in one transaction.
   * `pruned` is empty if pruning failed: the next exchange prunes those checkpoints too.
   */
  finish(
    exchange: Omit<FinishExchange, "fence">,
  ): Promise<ExchangeRows & { readonly pruned: PrunedIds }>;
}

/** Reaction to a session that another exchange holds. */
export type WhenBusy = "refuse" | "wait" | "take_over";

export interface HoldInput {
  readonly store: Store;
  readonly session_id: string;
  readonly owner: LeaseOwner;
  readonly life_ms: number;
  readonly when_busy: WhenBusy;
  /** See `OpenExchange`. */
  readonly parent_fence?: Fence | undefined;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** True for a new message, which skips an exchange that was interrupted. */
  readonly skips?: boolean;
  /** True if it has found the session busy before. */
  readonly has_waited?: boolean;
  /**
   * True for an exchange of a service: while the database is away, it is tried again and again to give the
   * lease back, until `signal` is aborted. Else it would count as an attempt that took its process with it.
   */
  readonly insists?: boolean;
  /** See `openExchange`. */
  readonly begin?: OpenExchange["begin"];
  /** Milliseconds between two polls for a stop of which no hint has come; `STOP_POLL_MS` if it is not given. */
  readonly stop_poll_ms?: number | undefined;
}

/** How often a waiting exchange asks for the lease. */
const WAIT_MS = 250;
/** How often a running exchange asks whether somebody wants it to stop: hints may get lost. */
const STOP_POLL_MS = 2000;

/**
 * Takes a session's lease and renews it at a third of its life until it is released. A lease whose
 * holder is known to be dead is taken at once: nobody should wait for a process that was killed, nor
 * for a lease that this process could not release.
 *
 * Error codes: as `openExchange`.
 */
export async function holdLease(input: HoldInput): Promise<HeldSession> {
  const { store, life_ms, stop_poll_ms = STOP_POLL_MS } = input;
  const taken = await rememberingUnreleased(input, () => takeWhenFree(input));
  const fence: Fence = { session_id: taken.session_id, epoch: taken.epoch };
  const lost = new AbortController();
  const stop = new AbortController();
  const renew = (): Promise<void> => store.write(renewLease, { fence, life_ms });
  const timer = setInterval(() => {
    renew().catch((error: unknown) => {
      // a database that is busy for a moment is tried again at the next third
      if (isRepriseError(error, "lease_lost", "session_ended")) {
        lost.abort(error);
      }
    });
  }, life_ms / 3);
  const checkStop = (): void => {
    store.read(isStopAsked, fence).then(
      (asked) => asked && stop.abort(),
      () => undefined,
    );
  };
  const asking = setInterval(checkStop, stop_poll_ms);
  const hint = stopHint(fence.session_id);
  const stopListening = store.onCommit((ids) => ids.has(hint) && checkStop());
  const letGo = (): void => {
    clearInterval(timer);
    clearInterval(asking);
    stopListening();
  };
  const release = async (end: Omit<ReleaseLease, "fence">): Promise<void> => {
    letGo();
    await rememberingUnreleased(input, () =>
      whenBack(input, () => store.write(releaseLease, { fence, ...end })),
    );
  };
  return {
    fence,
    session: taken.session,
    begun: taken.begun,
    wasInterrupted: taken.was_interrupted,
    lost: lost.signal,
    stop: stop.signal,
    renew,
    release,
    finish: async (exchange) => {
      letGo();
      try {
        return await store.write(finishExchange, { fence, ...exchange });
      } catch {
        // the exchange is over and its answer is stored: nobody should wait for the lease
        await release({ finished: true, end: exchange.end });
        const rows = await store.read(readExchangeRows, { ...fence, ...exchange });
        return { ...rows, pruned: NOTHING_PRUNED };
      }
    },
  };
}

async function takeWhenFree(input: HoldInput): Promise<Opened> {
  const { store, session_id } = input;
  const turn = input.skips === true ? createTurn({ store, session_id }) : null;
  for (let has_waited = input.has_waited === true; ; has_waited = true) {
    try {
      if (has_waited) {
        await turn?.();
      }
      return await take({ ...input, has_waited: has_waited && turn !== null });
    } catch (error) {
      const wait = input.when_busy === "wait" && !input.signal.aborted;
      if (!wait || !isRepriseError(error, "session_busy")) {
        throw error;
      }
      await sleep(WAIT_MS);
    }
  }
}

async function take(input: HoldInput): Promise<Opened> {
  const { store, session_id, owner, life_ms, parent_fence, has_waited = false } = input;
  const { begin = null } = input;
  const attempt = (take_over_epoch?: number): Promise<Opened> =>
    store.write(openExchange, {
      session_id,
      owner,
      life_ms,
      begin,
      has_waited,
      ...(parent_fence === undefined ? {} : { parent_fence }),
      ...(take_over_epoch === undefined ? {} : { take_over_epoch }),
    });
  try {
    return await attempt();
  } catch (error) {
    if (!isRepriseError(error, "session_busy")) {
      throw error;
    }
    const held = await store.read(readLease, { session_id });
    if (held !== null && !mayTakeOver(input, held.owner)) {
      throw error;
    }
    return attempt(held?.epoch);
  }
}

type Opened = Awaited<ReturnType<typeof openExchange>>;

function mayTakeOver(input: HoldInput, owner: LeaseOwner): boolean {
  return input.when_busy === "take_over" || isGone(owner) || isUnreleased(input.session_id, owner);
}

async function whenBack<Result>(
  { insists = false, signal }: Pick<HoldInput, "insists" | "signal">,
  work: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!insists || signal.aborted || !isPassing(error)) {
        throw error;
      }
      await sleep(WAIT_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Errors of a lease that was not taken. */
const NOT_TAKEN = ["session_busy", "session_ended", "session_not_found", "lease_lost"] as const;

/** Work after which, if it fails, the lease may be held although nobody works under it. */
async function rememberingUnreleased<Result>(
  { session_id, owner }: HoldInput,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isRepriseError(error, ...NOT_TAKEN)) {
      rememberUnreleased(session_id, owner);
    }
    throw error;
  }
}
