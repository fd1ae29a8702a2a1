/** Calls `tick` every so many milliseconds until the returned function is called. */
export type Every = (ms: number, tick: () => void) => () => void;

export interface Deadlines<Key> {
  /** Starts or restarts the key's time. */
  begin(key: Key): void;
  end(key: Key): void;
}

/**
 * Calls `due` for each key whose time is over, once: `ticks` ticks of `tickMs` after its last
 * `begin`, at most one tick early. ONE timer serves all keys, and it ends with the tick that finds
 * none. Time is counted in ticks, so a pause of the process counts as one tick: clients are not cut
 * because the service was suspended.
 */
export function createDeadlines<Key>(
  { tickMs, ticks, every = onInterval }: { tickMs: number; ticks: number; every?: Every },
  due: (key: Key) => void,
): Deadlines<Key> {
  // in the order in which their time began: the first one is due first
  const begun = new Map<Key, number>();
  let now = 0;
  let stopTimer: (() => void) | null = null;

  const tick = (): void => {
    now += 1;
    for (const [key, since] of begun) {
      if (now - since < ticks) {
        break;
      }
      begun.delete(key);
      due(key);
    }
    if (begun.size === 0) {
      stopTimer?.();
      stopTimer = null;
    }
  };

  return {
    begin: (key) => {
      begun.delete(key);
      begun.set(key, now);
      stopTimer ??= every(tickMs, tick);
    },
    end: (key) => {
      begun.delete(key);
    },
  };
}

const onInterval: Every = (ms, tick) => {
  const timer = setInterval(tick, ms).unref();
  return () => clearInterval(timer);
};
