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

/** Calls `tick` every so many milliseconds until the returned function is called. */
export type Every = (ms: number, tick: () => void) => () => void;

/** A client's time in ticks of the guard's timer: it is cut at most one tick late. */
const TICKS = 10;

/**
 * Calls `stalled` for each client that takes nothing for `stallMs`. ONE timer serves all clients and
 * runs only while bytes wait. Time is counted in its ticks, of which a process that was held up gets
 * one: clients do not pay for a pause of the service.
 *
 * A socket's own timer would start again once although the client took nothing, because it compares
 * the bytes that wait now with those of the last write.
 */
export function createStallGuard(stallMs: number, every: Every = onInterval): StallGuard {
  // in the order in which their time began: the first one is due first
  const waiting = new Map<unknown, { readonly since: number; readonly stalled: () => void }>();
  let ticks = 0;
  let stopTimer: (() => void) | null = null;

  const tick = (): void => {
    ticks += 1;
    for (const [client, { since, stalled }] of waiting) {
      if (ticks - since <= TICKS) {
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
      waiting.set(client, { since: ticks, stalled });
      stopTimer ??= every(stallMs / TICKS, tick);
    },
    took: (client) => {
      waiting.delete(client);
    },
  };
}

const onInterval: Every = (ms, tick) => {
  const timer = setInterval(tick, ms).unref();
  return () => clearInterval(timer);
};
