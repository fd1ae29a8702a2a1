/** Milliseconds in which a person types nothing before a key that answers, and after it. */
export const QUIET_MS = 500;

/** Parts of the screen that a guard needs. */
export interface GuardScreen {
  changed(): void;
  /** Milliseconds of any clock that only moves forward. */
  now(): number;
  /** When the person last typed something for the conversation's editor, on the same clock. */
  lastTyped(): number;
}

/** Which keys may answer: not those typed before the rows were shown, nor those of somebody who is still typing. */
export interface KeyGuard {
  /** Begins again: what is shown next was not seen yet. */
  reset(): void;
  /** The rows were composed. */
  drawn(): void;
  /** The terminal has them: keys that it sends from now on count, and the rows are drawn again to say so. */
  armed(): void;
  /** A key that meant nothing: the person may be typing a word. */
  typed(): void;
  isArmed(): boolean;
  isReady(): boolean;
  /** True while a person types; the rows are drawn again when that is over. */
  isPausing(): boolean;
}

export function createKeyGuard({ changed, now, lastTyped }: GuardScreen): KeyGuard {
  let isDrawn = false;
  let isArmed = false;
  let ownTyped = -Infinity;
  let redraw: NodeJS.Timeout | null = null;
  const left = (): number => QUIET_MS - (now() - Math.max(ownTyped, lastTyped()));
  return {
    reset: () => {
      isDrawn = false;
      isArmed = false;
    },
    drawn: () => {
      isDrawn = true;
    },
    armed: () => {
      if (isDrawn && !isArmed) {
        isArmed = true;
        changed();
      }
    },
    isArmed: () => isArmed,
    typed: () => {
      ownTyped = now();
    },
    isReady: () => isArmed && left() <= 0,
    isPausing: () => {
      // read once: the clock may pass the end between two reads, and Node.js warns of a negative time
      const ms = left();
      if (ms <= 0) {
        return false;
      }
      redraw ??= setTimeout(() => {
        redraw = null;
        changed();
      }, ms).unref();
      return true;
    },
  };
}
