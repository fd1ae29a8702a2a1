import { closeSync, openSync, rmSync, statSync, utimesSync } from "node:fs";

/**
 * The order in which processes take SQLite's write lock, which has no queue: without one, the
 * process that happens to poll when it is free gets it, and some wait for seconds.
 *
 * The process that has waited longest announces itself: it sets the times of an empty file beside
 * the database. The others see it and leave the lock to it. The file is a hint and no lock: one
 * that is stale, foreign or missing costs a little order and nothing else.
 *
 *     modification time = since when the announcer waits    access time = when it last said so
 */
export interface WaitingLine {
  /** True unless a process that has waited for longer (since `since`, epoch ms) is to go first. */
  isMyTurn(since: number): boolean;
  /** The lock was taken: for a moment this process need not ask again. */
  taken(): void;
  /** Asks the others to let this process go first. */
  announce(since: number): void;
  /** Takes the announcement back: the lock was taken, or nobody waits for it any longer. */
  withdraw(since: number): void;
}

/** Appended to the path of the database. */
const WAITING_SUFFIX = "-waiting";

/** An announcement that was not repeated for so long is that of a process that is gone. */
const FRESH_MS = 250;
/**
 * A turn is that long and not one transaction: on a busy machine it takes longer to wake the next
 * process than to commit.
 */
const TURN_MS = 50;

/** `database` is the real path of the file; `now` gives epoch ms. Nothing here throws. */
export function createWaitingLine(database: string, now: () => number = Date.now): WaitingLine {
  const path = database + WAITING_SUFFIX;
  let turnEnds = 0;
  const isTurn = (at: number): boolean => at < turnEnds && at >= turnEnds - TURN_MS;

  const read = (): { since: number; at: number } | null => {
    try {
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? null : { since: found.mtimeMs, at: found.atimeMs };
    } catch {
      return null;
    }
  };

  return {
    isMyTurn: (since) => {
      if (isTurn(now())) {
        return true;
      }
      const first = read();
      return (
        first === null || !isBefore(first.since, since) || Math.abs(now() - first.at) > FRESH_MS
      );
    },
    taken: () => {
      const at = now();
      turnEnds = isTurn(at) ? turnEnds : at + TURN_MS;
    },
    announce: (since) => {
      try {
        // nothing is written: a missing file is created, readable by its user only
        closeSync(openSync(path, "a", 0o600));
        utimesSync(path, now() / 1000, since / 1000);
      } catch {
        // another user's file, or a full disk: then the order is left to chance
      }
    },
    withdraw: (since) => {
      const first = read();
      if (first !== null && !isBefore(first.since, since)) {
        try {
          rmSync(path, { force: true });
        } catch {
          // as above
        }
      }
    },
  };
}

/** A file's times pass through a number of seconds, which is not exact to the millisecond. */
function isBefore(first: number, second: number): boolean {
  return first < second - 0.5;
}
