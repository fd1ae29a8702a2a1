import { setTimeout as sleep } from "node:timers/promises";

import type { SqliteConnection } from "./connection.ts";
import { isBusy } from "../../sqlite-code.ts";
import { queryValue } from "./statements.ts";
import type { WaitingLine } from "./waiting-line.ts";

export interface WriteLockOptions {
  readonly connection: SqliteConnection;
  readonly line: WaitingLine;
  /** How long to wait while no other process commits anything, in milliseconds. */
  readonly busyTimeoutMs: number;
}

/** Who has waited for longer than this asks younger waiters to let it go first. */
const ANNOUNCE_AFTER_MS = 30;

/**
 * Begins a transaction that holds the write lock, without holding up the event loop: SQLite's busy
 * handler would sleep in this thread, and every stream and request with it. The time-out begins
 * again with each commit of another process, so a long line that moves refuses nobody.
 *
 * Throws SQLite's own errors.
 */
export async function beginImmediate(options: WriteLockOptions): Promise<void> {
  const { connection, line } = options;
  const since = Date.now();
  if (line.isMyTurn(since) && tryBegin(connection) === null) {
    line.taken();
    return;
  }
  const isOver = createDeadline(options);
  let announced = false;
  try {
    for (;;) {
      const isLast = isOver();
      const isMyTurn = line.isMyTurn(since);
      if (isMyTurn || isLast) {
        const busy = tryBegin(connection);
        if (busy === null) {
          line.taken();
          return;
        }
        if (isLast) {
          throw busy;
        }
      }
      if (isMyTurn && Date.now() - since > ANNOUNCE_AFTER_MS) {
        line.announce(since);
        announced = true;
      }
      await sleep(pauseMs({ isMyTurn, announced }));
    }
  } finally {
    if (announced) {
      line.withdraw(since);
    }
  }
}

/** The first in line polls often, so that the lock is not idle for long. */
function pauseMs({ isMyTurn, announced }: { isMyTurn: boolean; announced: boolean }): number {
  if (!isMyTurn) {
    return 5 + Math.random() * 20;
  }
  return 1 + Math.random() * (announced ? 3 : 9);
}

/** Null if the transaction began; the error if another process has the lock. */
function tryBegin({ raw }: SqliteConnection): unknown {
  try {
    raw.exec("BEGIN IMMEDIATE");
    return null;
  } catch (error) {
    if (isBusy(error)) {
      return error;
    }
    throw error;
  }
}

/** Returns a function that is true once no other process has committed for as long as one waits. */
function createDeadline({ connection, busyTimeoutMs }: WriteLockOptions): () => boolean {
  let version = dataVersion(connection);
  let deadline = performance.now() + busyTimeoutMs;
  return () => {
    if (performance.now() <= deadline) {
      return false;
    }
    const before = version;
    version = dataVersion(connection);
    deadline = performance.now() + busyTimeoutMs;
    return version === before;
  };
}

/** Changes with each commit of another connection; null if the file cannot be read just now. */
function dataVersion({ raw }: SqliteConnection): unknown {
  try {
    return queryValue(raw, "PRAGMA data_version");
  } catch (error) {
    if (isBusy(error)) {
      return null;
    }
    throw error;
  }
}
