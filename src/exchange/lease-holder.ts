import { setTimeout as sleep } from "node:timers/promises";

import { isRepriseError } from "../core/errors.ts";
import type { ExchangeFailure } from "../core/sessions.ts";
import { type PrunedIds, NOTHING_PRUNED } from "../store/checkpoints/plan-prune.ts";
import type { Fence } from "../store/leases/fence.ts";
import { finishExchange } from "../store/leases/finish.ts";
import {
  type Lease,
  readLease,
  releaseLease,
  renewLease,
  takeLease,
} from "../store/leases/lease.ts";
import type { LeaseOwner } from "../store/leases/this-process.ts";
import type { Store } from "../store/store.ts";

export interface HeldSession {
  readonly fence: Fence;
  /** True when the exchange before this one did not come to its end. */
  readonly wasInterrupted: boolean;
  /** Aborted, with the error as its reason, once the lease could not be kept. */
  readonly lost: AbortSignal;
  /** Gives the lease back; `finished`: whether the exchange came to its end; `failure`: why not. */
  release(finished: boolean, failure?: ExchangeFailure | null): Promise<void>;
  /**
   * Gives the lease of a finished exchange back and folds its thread, in one transaction. The
   * answer is what the fold took away: nothing where it failed, because the next one makes up for it.
   */
  finish(threadId: string): Promise<PrunedIds>;
}

/** What to do about a session that another exchange holds. */
export type WhenBusy = "refuse" | "wait" | "take_over";

export interface HoldInput {
  readonly store: Store;
  readonly session_id: string;
  readonly owner: LeaseOwner;
  readonly life_ms: number;
  readonly when_busy: WhenBusy;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  /** True when the process that an owner names certainly runs no more. */
  readonly isGone: (owner: LeaseOwner) => boolean;
  /**
   * Leases of this process that it could not give back, or that it may have got without being told,
   * because the database went away: nobody works under them. Kept by whoever holds sessions again
   * and again.
   */
  readonly unreturned?: Set<string>;
}

/** How often a waiting exchange asks for the lease. */
const WAIT_MS = 250;

/**
 * Takes a session's lease and renews it at a third of its life until it is released. A lease whose
 * holder is known to be dead is taken at once: nobody should wait for a process that was killed.
 *
 * Error codes: `session_not_found`, `session_ended`, `session_busy`.
 */
export async function holdLease(input: HoldInput): Promise<HeldSession> {
  const { store, life_ms } = input;
  const { was_interrupted, ...fence } = await orUnreturned(input, () => takeWhenFree(input));
  const lost = new AbortController();
  const timer = setInterval(() => {
    store.write(renewLease, { fence, life_ms }).catch((error: unknown) => {
      // a database that is busy for a moment is tried again at the next third
      if (isRepriseError(error, "lease_lost", "session_ended")) {
        lost.abort(error);
      }
    });
  }, life_ms / 3);
  const release = async (
    finished: boolean,
    failure: ExchangeFailure | null = null,
  ): Promise<void> => {
    clearInterval(timer);
    await orUnreturned(input, () => store.write(releaseLease, { fence, finished, failure }));
  };
  return {
    fence,
    wasInterrupted: was_interrupted,
    lost: lost.signal,
    release,
    finish: async (thread_id) => {
      clearInterval(timer);
      try {
        return await store.write(finishExchange, { fence, thread_id });
      } catch {
        // the exchange is over and its answer is stored: nobody should wait for the lease
        await release(true);
        return NOTHING_PRUNED;
      }
    },
  };
}

async function takeWhenFree(input: HoldInput): Promise<Lease> {
  for (;;) {
    try {
      return await take(input);
    } catch (error) {
      const wait = input.when_busy === "wait" && !input.signal.aborted;
      if (!wait || !isRepriseError(error, "session_busy")) {
        throw error;
      }
      await sleep(WAIT_MS);
    }
  }
}

async function take(input: HoldInput): Promise<Lease> {
  const { store, session_id, owner, life_ms } = input;
  const held = await store.read(readLease, { session_id });
  const mayTake =
    held !== null &&
    (input.when_busy === "take_over" ||
      input.isGone(held.owner) ||
      (input.unreturned?.has(nameOf(session_id, held.owner)) ?? false));
  return store.write(takeLease, {
    session_id,
    owner,
    life_ms,
    ...(mayTake ? { take_over_epoch: held.epoch } : {}),
  });
}

/** Remembers the lease where the database did not let the work on it come to an end. */
async function orUnreturned<Result>(
  input: HoldInput,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isRepriseError(error, "database_unavailable", "database_locked")) {
      input.unreturned?.add(nameOf(input.session_id, input.owner));
    }
    throw error;
  }
}

/** An owner has a `since` of its own for each lease that it takes. */
function nameOf(sessionId: string, { host, machine, pid, since }: LeaseOwner): string {
  return JSON.stringify([sessionId, host, machine, pid, since]);
}
