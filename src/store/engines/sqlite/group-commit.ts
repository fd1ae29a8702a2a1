import { setImmediate as nextTurn } from "node:timers/promises";

import type { CommitListener, Store, Tx } from "../../store.ts";
import type { SqliteConnection } from "./connection.ts";
import { shuttingDown } from "../closing.ts";
import { createTx } from "../connection.ts";
import { sqliteDialect } from "./dialect.ts";
import { sqliteFailure } from "./failure.ts";
import type { InodeGuard } from "./inode-guard.ts";
import { rollBack } from "./statements.ts";
import { beginImmediate, type WriteLockOptions } from "./write-lock.ts";

export interface GroupCommit extends Pick<Store, "write"> {
  /** Operations that wait, and whether a group of them is being run. */
  load(): ConnectionLoad;
  /** Waits for what is queued; later writes are refused. */
  close(): Promise<void>;
}

export interface ConnectionLoad {
  readonly busy: boolean;
  readonly waiting: number;
}

export interface GroupCommitOptions extends WriteLockOptions {
  readonly onCommit: CommitListener;
  readonly guard: InodeGuard;
}

/** Gives a waiting writer the result of its operation; called once the commit is durable. */
type Answer = () => void;

interface WaitingWrite {
  run(tx: Tx): Promise<Answer>;
  reject(error: unknown): void;
}

/** Operations in one transaction at most, so that a flood of writers still gets answers. */
const GROUP_SIZE = 256;

/**
 * The one writer of this process. Operations queue; once a turn of the event loop everything that
 * waits goes into ONE transaction and one fsync, each operation under its own savepoint unless it
 * is alone, and all are answered after the commit.
 *
 *     write() ─> queue ─(next turn)─> BEGIN IMMEDIATE
 *                                       SAVEPOINT, operation, RELEASE  (or ROLLBACK TO: only
 *                                       …                              that one is refused)
 *                                     COMMIT ─> answer all, call `onCommit`
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const queue: WaitingWrite[] = [];
  let closed = false;
  let draining: Promise<void> | null = null;

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      // a whole turn, also between groups: writers that write again as soon as they are answered
      // would otherwise keep timers and sockets from ever being served
      await nextTurn();
      await commitNext(options, queue);
    }
    draining = null;
  };

  return {
    write: (operation, input) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(shuttingDown());
          return;
        }
        queue.push({
          run: async (tx) => {
            const output = await operation(tx, input);
            return () => resolve(output);
          },
          reject,
        });
        draining ??= drain();
      }),
    load: () => ({ busy: draining !== null, waiting: queue.length }),
    close: async () => {
      closed = true;
      await draining;
    },
  };
}

/** Takes the lock, then everything that waits by then: who came while it was held goes along. */
async function commitNext(options: GroupCommitOptions, queue: WaitingWrite[]): Promise<void> {
  const waitingBefore = queue.length;
  try {
    await begin(options);
  } catch (error) {
    rejectAll(queue.splice(0, waitingBefore), error);
    return;
  }
  await commitGroup(options, queue.splice(0, GROUP_SIZE));
}

/** Runs a group in the open transaction, commits and answers. Never rejects. */
async function commitGroup(
  options: GroupCommitOptions,
  group: readonly WaitingWrite[],
): Promise<void> {
  const { connection, onCommit } = options;
  const touched = new Set<string>();
  let answers: readonly Answer[];
  try {
    answers = await runAll(connection, group, touched);
    connection.raw.exec("COMMIT");
  } catch (error) {
    await undo(options, group, error);
    return;
  }
  for (const answer of answers) {
    answer();
  }
  if (touched.size > 0) {
    onCommit(touched);
  }
}

/**
 * The whole group is lost: COMMIT failed, or SQLite rolled everything back by itself, as it does
 * when the disk fills up. One operation may be the cause of it (it was too large, say), so each is
 * run again in a separate transaction.
 */
async function undo(
  options: GroupCommitOptions,
  group: readonly WaitingWrite[],
  error: unknown,
): Promise<void> {
  try {
    rollBack(options.connection.raw);
    if (group.length === 1) {
      rejectAll(group, error);
      return;
    }
  } catch (failure) {
    rejectAll(group, failure);
    return;
  }
  for (const waiting of group) {
    await commitNext(options, [waiting]);
  }
}

function rejectAll(group: readonly WaitingWrite[], error: unknown): void {
  const failure = sqliteFailure(error);
  for (const waiting of group) {
    waiting.reject(failure);
  }
}

async function begin(options: GroupCommitOptions): Promise<void> {
  options.guard.require();
  await beginImmediate(options);
}

async function runAll(
  connection: SqliteConnection,
  group: readonly WaitingWrite[],
  touched: Set<string>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const isAlone = group.length === 1;
  for (const waiting of group) {
    const mine = new Set<string>();
    const tx = createTx(connection, sqliteDialect, mine);
    if (!isAlone) {
      connection.raw.exec("SAVEPOINT operation");
    }
    try {
      const answer = await waiting.run(tx);
      if (!isAlone) {
        connection.raw.exec("RELEASE operation");
      }
      answers.push(answer);
    } catch (error) {
      if (!connection.raw.isTransaction) {
        throw error;
      }
      // nothing is left to commit of an operation that was alone
      connection.raw.exec(isAlone ? "ROLLBACK; BEGIN" : "ROLLBACK TO operation; RELEASE operation");
      answers.push(() => waiting.reject(sqliteFailure(error)));
      continue;
    }
    for (const id of mine) {
      touched.add(id);
    }
  }
  return answers;
}
