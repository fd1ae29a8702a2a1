import { setTimeout as sleep } from "node:timers/promises";

import { RepriseError } from "../../core/errors.ts";
import type { CommitListener, Operation, Tx } from "../store.ts";
import type { SqliteConnection } from "./connection.ts";
import { sqliteDialect } from "./dialect.ts";
import { isBusy, sqliteFailure } from "./failure.ts";

export interface GroupCommit {
  write<Input, Output>(operation: Operation<Input, Output>, input: Input): Promise<Output>;
  /** Waits for what is queued; later writes are refused. */
  close(): Promise<void>;
}

interface Waiting {
  carryOut(tx: Tx): Promise<unknown>;
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { readonly output: unknown } | { readonly error: unknown };

/** Operations in one transaction at most, so that a flood of writers still gets answers. */
const GROUP_SIZE = 256;
/** How long to wait for another process's write lock before the writer is told. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * The one writer of this process. Operations queue; once a turn of the event loop everything that
 * waits goes into ONE transaction and one fsync, each operation under its own savepoint, and all
 * are answered after the commit.
 *
 *     write() ─> queue ─(setImmediate)─> BEGIN IMMEDIATE
 *                                          SAVEPOINT, operation, RELEASE  (or ROLLBACK TO: only
 *                                          …                              that one is refused)
 *                                        COMMIT ─> answer all, tell `onCommit`
 */
export function createGroupCommit(
  connection: SqliteConnection,
  onCommit: CommitListener,
): GroupCommit {
  const queue: Waiting[] = [];
  let scheduled = false;
  let closed = false;
  let draining: Promise<void> = Promise.resolve();

  const schedule = (): void => {
    if (!scheduled) {
      scheduled = true;
      draining = new Promise((resolve) => {
        setImmediate(() => {
          void drain().finally(resolve);
        });
      });
    }
  };

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const group = queue.splice(0, GROUP_SIZE);
      try {
        await commitGroup({ connection, group, onCommit });
      } catch (error) {
        const failure = sqliteFailure(error);
        for (const waiting of group) {
          waiting.reject(failure);
        }
      }
    }
    scheduled = false;
  };

  return {
    write: (operation, input) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(new RepriseError("shutting_down", "Reprise is shutting down; try again later."));
          return;
        }
        queue.push({
          carryOut: (tx) => operation(tx, input),
          resolve: (output) => resolve(output as Awaited<ReturnType<typeof operation>>),
          reject,
        });
        schedule();
      }),
    close: async () => {
      closed = true;
      await draining;
    },
  };
}

async function commitGroup(input: {
  connection: SqliteConnection;
  group: readonly Waiting[];
  onCommit: CommitListener;
}): Promise<void> {
  const { connection, group } = input;
  const touched = new Set<string>();
  await beginImmediate(connection);
  let outcomes: Outcome[];
  try {
    outcomes = await carryOutAll(connection, group, touched);
    connection.raw.exec("COMMIT");
  } catch (error) {
    rollBack(connection);
    throw error;
  }
  for (const [index, waiting] of group.entries()) {
    answer(waiting, outcomes[index]);
  }
  if (touched.size > 0) {
    input.onCommit(touched);
  }
}

/**
 * Takes the write lock without holding up the event loop: SQLite's busy handler would sleep in
 * this thread, and every stream and request with it.
 */
async function beginImmediate(connection: SqliteConnection): Promise<void> {
  const deadline = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      connection.raw.exec("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) {
        throw error;
      }
      await sleep(1 + Math.random() * 9);
    }
  }
}

async function carryOutAll(
  connection: SqliteConnection,
  group: readonly Waiting[],
  touched: Set<string>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const waiting of group) {
    const mine = new Set<string>();
    const tx: Tx = {
      db: connection.db,
      dialect: sqliteDialect,
      touch: (id) => {
        mine.add(id);
      },
    };
    connection.raw.exec("SAVEPOINT operation");
    try {
      const output = await waiting.carryOut(tx);
      connection.raw.exec("RELEASE operation");
      outcomes.push({ output });
    } catch (error) {
      if (!connection.raw.isTransaction) {
        // disk full, I/O error: SQLite has rolled back the whole group by itself
        throw error;
      }
      connection.raw.exec("ROLLBACK TO operation; RELEASE operation");
      outcomes.push({ error: sqliteFailure(error) });
      continue;
    }
    for (const id of mine) {
      touched.add(id);
    }
  }
  return outcomes;
}

function rollBack(connection: SqliteConnection): void {
  if (connection.raw.isTransaction) {
    connection.raw.exec("ROLLBACK");
  }
}

function answer(waiting: Waiting, outcome: Outcome | undefined): void {
  if (outcome === undefined || "error" in outcome) {
    waiting.reject(outcome?.error);
  } else {
    waiting.resolve(outcome.output);
  }
}
