import { performance } from "node:perf_hooks";

import { createFairLine } from "./fair-line.ts";

/** Work that takes the event loop for some milliseconds, such as reading a large answer. */
export interface Turns {
  /** Entries that wait now. */
  readonly waiting: number;
  /**
   * Resolves with a function that ends the turn, which must be called. One turn runs at a time, in a separate turn of
   * the event loop, and everybody who waits gets one before anybody gets the next. After a turn that was not short,
   * requests that need none have the event loop to themselves.
   */
  take(who: string): Promise<() => void>;
}

export interface TurnsOptions {
  /** True while clients do not read what they asked for: the pauses between turns are long then. */
  readonly isPressed: () => boolean;
  /** Runs what comes after so many milliseconds, or in the next turn of the event loop for 0. */
  readonly after?: (ms: number, next: () => void) => void;
}

/** How often it is checked whether a turn only waits for the database: then it keeps nobody waiting. */
const CHECK_MS = 50;
const MAX_MS = 1000;
/** How much of the time a turn takes the event loop that does more than wait. */
const BUSY = 0.5;
/** How many times as long as a turn the pause after it is. */
const PAUSE = 2;
const LONG_PAUSE = 20;
/** Shorter turns delay nobody. */
const SHORT_MS = 1;

export function createTurns({ isPressed, after = onTimer }: TurnsOptions): Turns {
  const line = createFairLine<() => void>();
  let isBusy = false;

  const startNext = (): void => {
    const start = line.next();
    isBusy = start !== undefined;
    start?.();
  };
  const begin = (): (() => void) => {
    const before = performance.eventLoopUtilization();
    let isOver = false;
    const end = (): void => {
      if (isOver) {
        return;
      }
      isOver = true;
      clearInterval(checks);
      const { active } = performance.eventLoopUtilization(before);
      // reading page after page is not slowed down while no other wants to
      const isShort = line.length === 0 || active < SHORT_MS;
      after(isShort ? 0 : active * (isPressed() ? LONG_PAUSE : PAUSE), startNext);
    };
    const checks = setInterval(() => {
      const { utilization, active, idle } = performance.eventLoopUtilization(before);
      if (utilization < BUSY || active + idle > MAX_MS) {
        end();
      }
    }, CHECK_MS).unref();
    return end;
  };

  return {
    get waiting() {
      return line.length;
    },
    take: (who) =>
      new Promise((resolve) => {
        line.add(who, () => resolve(begin()));
        if (!isBusy) {
          isBusy = true;
          setImmediate(startNext);
        }
      }),
  };
}

function onTimer(ms: number, next: () => void): void {
  if (ms === 0) {
    setImmediate(next);
  } else {
    setTimeout(next, ms);
  }
}
