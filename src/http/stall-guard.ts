/** Notices clients that take none of the bytes that wait for them. */
export interface StallGuard {
  /**
   * Bytes wait for the client from now on. Unless `took` or another `waits` follows within the time,
   * `stalled` is called, once.
   */
  waits(client: unknown, stalled: () => void): void;
  /** The client took all that waited, or is gone. */
  took(client: unknown): void;
}

/** The time and the timer that a guard uses. */
export interface StallClock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Calls `tick` every so many milliseconds until the returned function is called. */
  every(ms: number, tick: () => void): () => void;
}

/** How often in the time clients are checked: one is cut at most a tenth late. */
const CHECKS = 10;

/**
 * Calls `stalled` for each client that takes nothing for `stallMs`. ONE timer serves all clients and
 * runs only while bytes wait. A socket's own timer would start again once although the client took
 * nothing, because it compares the bytes that wait now with those of the last write.
 */
export function createStallGuard(stallMs: number, clock: StallClock = systemClock): StallGuard {
  // in the order in which their time began: whoever comes first is due first
  const waiting = new Map<unknown, { readonly since: number; readonly stalled: () => void }>();
  let stopTimer: (() => void) | null = null;

  const check = (): void => {
    const due = clock.now() - stallMs;
    for (const [client, { since, stalled }] of waiting) {
      if (since > due) {
        break;
      }
      waiting.delete(client);
      stalled();
    }
    if (waiting.size === 0) {
      stopTimer?.();
      stopTimer = null;
    }
  };

  return {
    waits: (client, stalled) => {
      waiting.delete(client);
      waiting.set(client, { since: clock.now(), stalled });
      stopTimer ??= clock.every(Math.max(1, stallMs / CHECKS), check);
    },
    took: (client) => {
      waiting.delete(client);
    },
  };
}

const systemClock: StallClock = {
  now: () => performance.now(),
  every: (ms, tick) => {
    const timer = setInterval(tick, ms).unref();
    return () => clearInterval(timer);
  },
};
