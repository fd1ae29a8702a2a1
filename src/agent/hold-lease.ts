import { isRepriseError } from "../core/errors.ts";
import type { Fence } from "../store/leases/fence.ts";
import {
  type LeaseOwner,
  readLease,
  releaseLease,
  renewLease,
  takeLease,
} from "../store/leases/lease.ts";
import type { Store } from "../store/store.ts";

export interface HeldSession {
  readonly fence: Fence;
  /** Aborted, with the error as its reason, once the lease could not be kept. */
  readonly lost: AbortSignal;
  /** Gives the lease back; `finished` tells whether the exchange came to its end. */
  release(finished: boolean): Promise<void>;
}

export interface HoldInput {
  readonly store: Store;
  readonly session_id: string;
  readonly owner: LeaseOwner;
  readonly life_ms: number;
  /** True when the process that an owner names certainly runs no more. */
  readonly isGone: (owner: LeaseOwner) => boolean;
}

/**
 * Takes a session's lease and renews it at a third of its life until it is released. A lease whose
 * holder is known to be dead is taken at once: nobody should wait for a process that was killed.
 *
 * Error codes: `session_not_found`, `session_ended`, `session_busy`.
 */
export async function holdLease(input: HoldInput): Promise<HeldSession> {
  const { store, life_ms } = input;
  const fence = await take(input);
  const lost = new AbortController();
  const timer = setInterval(() => {
    store.write(renewLease, { fence, life_ms }).catch((error: unknown) => {
      // a database that is busy for a moment is tried again at the next third
      if (isRepriseError(error, "lease_lost", "session_ended")) {
        lost.abort(error);
      }
    });
  }, life_ms / 3);
  return {
    fence,
    lost: lost.signal,
    release: async (finished) => {
      clearInterval(timer);
      await store.write(releaseLease, { fence, finished });
    },
  };
}

async function take(input: HoldInput): Promise<Fence> {
  const { store, session_id, owner, life_ms } = input;
  const held = await store.read(readLease, { session_id });
  const take_over_epoch = held !== null && input.isGone(held.owner) ? held.epoch : undefined;
  return store.write(takeLease, {
    session_id,
    owner,
    life_ms,
    ...(take_over_epoch === undefined ? {} : { take_over_epoch }),
  });
}
