import { setTimeout as sleep } from "node:timers/promises";

import { RepriseError } from "../../core/errors.ts";
import type { CommitListener, Operation, Store, Tx } from "../store.ts";
import type { PostgresConnection } from "./connection.ts";
import { postgresDialect } from "./dialect.ts";
import {
  connectFailure,
  isCollision,
  isPassing,
  lostFailure,
  postgresFailure,
  unknownCommit,
} from "./failure.ts";
import type { Lent, PostgresPool } from "./pool.ts";

export type Transactions = Pick<Store, "read" | "write" | "mayHaveChanged" | "close">;

export interface TransactionsParts {
  readonly pool: PostgresPool;
  readonly onCommit: CommitListener;
}

/**
 * Carries operations out, each in a transaction on a connection of its own.
 *
 *     lend ─> BEGIN ─> operation ─> COMMIT ─> answer, tell `onCommit`
 *       │        └─ lost, collision ─┘  └─ lost: did it commit? ─ yes ─> answer
 *       └──<── again, some times ──<──┴──<── no ────┘         └ nobody knows: `database_unavailable`
 *
 * Operations keep nothing outside their transaction, so one that did not commit can be carried out
 * again.
 */
export function createTransactions({ pool, onCommit }: TransactionsParts): Transactions {
  const running = new Set<Promise<unknown>>();
  let closed = false;

  const accept = <Output>(work: () => Promise<Output>): Promise<Output> => {
    if (closed) {
      return Promise.reject(
        new RepriseError("shutting_down", "Reprise is shutting down; try again later."),
      );
    }
    const answer = work();
    const settled = answer
      .catch(() => undefined)
      .finally(() => {
        running.delete(settled);
      });
    running.add(settled);
    return answer;
  };

  return {
    read: (operation, input) =>
      accept(() => repeat(() => attempt(pool, (lent) => readOnce(lent, operation, input)))),
    write: (operation, input) =>
      accept(async () => {
        const { output, touched } = await repeat(() => writeOnce(pool, operation, input));
        if (touched.size > 0) {
          onCommit(touched);
        }
        return output;
      }),
    // asking would cost as much as looking
    mayHaveChanged: () => accept(() => Promise.resolve(true)),
    close: async () => {
      closed = true;
      await Promise.all(running);
    },
  };
}

/** How an attempt ended; `again` where nothing was stored and the same may succeed now. */
type Attempt<Output> =
  | { readonly kind: "done"; readonly output: Output }
  | { readonly kind: "again"; readonly why: "lost" | "collision"; readonly error: unknown };

/** Waits before further attempts, in milliseconds: a server that restarts needs about a second. */
const WAITS_AFTER_LOSS = [50, 250, 1000];
const WAITS_AFTER_COLLISION = [0, 5, 20, 80, 320, 1000];

async function repeat<Output>(once: () => Promise<Attempt<Output>>): Promise<Output> {
  const waits = { lost: [...WAITS_AFTER_LOSS], collision: [...WAITS_AFTER_COLLISION] };
  for (;;) {
    const attempt = await once();
    if (attempt.kind === "done") {
      return attempt.output;
    }
    const wait = waits[attempt.why].shift();
    if (wait === undefined) {
      throw attempt.why === "lost" ? attempt.error : postgresFailure(attempt.error);
    }
    // those that collided must not meet again
    await sleep(wait * (0.5 + Math.random()));
  }
}

/** Lends a connection for one attempt and tells whether what failed may be tried again. */
async function attempt<Output>(
  pool: PostgresPool,
  work: (lent: Lent) => Promise<Attempt<Output>>,
): Promise<Attempt<Output>> {
  let lent: Lent;
  try {
    lent = await pool.lend();
  } catch (error) {
    if (isPassing(error)) {
      return { kind: "again", why: "lost", error: connectFailure(error) };
    }
    throw connectFailure(error);
  }
  const { connection } = lent;
  try {
    return await work(lent);
  } catch (error) {
    if (connection.loss !== null) {
      return { kind: "again", why: "lost", error: lostFailure(connection.loss) };
    }
    await rollBack(connection);
    if (isCollision(error)) {
      return { kind: "again", why: "collision", error };
    }
    throw postgresFailure(error);
  } finally {
    lent.release();
  }
}

/** A connection that is lost meanwhile has nothing left to undo: the server does it. */
async function rollBack(connection: PostgresConnection): Promise<void> {
  await connection.run("ROLLBACK").catch(() => undefined);
}

async function readOnce<Input, Output>(
  { connection }: Lent,
  operation: Operation<Input, Output>,
  input: Input,
): Promise<Attempt<Output>> {
  await connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const output = await operation(
    {
      db: connection.db,
      dialect: postgresDialect,
      touch: () => {
        throw new Error("an operation that only reads touches nothing");
      },
    },
    input,
  );
  await connection.run("COMMIT");
  return { kind: "done", output };
}

interface Written<Output> {
  readonly output: Output;
  readonly touched: ReadonlySet<string>;
}

/** A transaction whose COMMIT was sent and whose answer never came. */
interface Unanswered<Output> {
  readonly kind: "unanswered";
  readonly written: Written<Output>;
  readonly transaction: Transaction;
  readonly error: unknown;
}

interface Transaction {
  /** The server's number of it. */
  readonly id: string;
  /** The server (and its life) that gave it out. */
  readonly server: string;
}

async function writeOnce<Input, Output>(
  pool: PostgresPool,
  operation: Operation<Input, Output>,
  input: Input,
): Promise<Attempt<Written<Output>>> {
  let unanswered: Unanswered<Output> | null = null;
  const tried = await attempt(pool, async ({ connection }) => {
    const transaction = await beginWriting(connection);
    const touched = new Set<string>();
    const tx: Tx = {
      db: connection.db,
      dialect: postgresDialect,
      touch: (id) => {
        touched.add(id);
      },
    };
    const written = { output: await operation(tx, input), touched };
    try {
      await commit(connection);
    } catch (error) {
      unanswered = { kind: "unanswered", written, transaction, error };
      throw error;
    }
    return { kind: "done", output: written } as const;
  });
  return tried.kind === "again" && tried.why === "lost" && unanswered !== null
    ? settle(pool, unanswered, tried)
    : tried;
}

/** The server's number of the transaction comes along with BEGIN: it costs no further round trip. */
async function beginWriting(connection: PostgresConnection): Promise<Transaction> {
  const { rows } = await connection.run(
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_current_xact_id()::text AS id",
  );
  return { id: String(rows[0]?.["id"]), server: connection.server };
}

/** The server answers a COMMIT after a failed statement with ROLLBACK, and without an error. */
async function commit(connection: PostgresConnection): Promise<void> {
  const { command } = await connection.run("COMMIT");
  if (command !== "COMMIT") {
    throw new Error("an operation went on after the database had refused a statement of it");
  }
}

/** Asks the server, on another connection, what became of a transaction. */
async function settle<Output>(
  pool: PostgresPool,
  { written, transaction, error }: Unanswered<Output>,
  again: Attempt<Written<Output>>,
): Promise<Attempt<Written<Output>>> {
  for (const wait of [0, ...WAITS_AFTER_LOSS, 1000, 1000]) {
    await sleep(wait);
    const status = await statusOf(pool, transaction);
    if (status === "committed") {
      return { kind: "done", output: written };
    }
    if (status === "aborted") {
      return again;
    }
    if (status === "unknown") {
      break;
    }
  }
  throw unknownCommit(error);
}

/**
 * What became of a transaction; null where the server cannot say yet. A server that was started
 * since, or another one, may have given the same number to another transaction.
 */
async function statusOf(pool: PostgresPool, transaction: Transaction): Promise<string | null> {
  const ask = attempt(pool, async ({ connection }) => {
    if (connection.server !== transaction.server) {
      return { kind: "done", output: "unknown" } as const;
    }
    const { rows } = await connection.run(
      `SELECT coalesce(pg_xact_status('${transaction.id}'::xid8), 'unknown') AS status`,
    );
    return { kind: "done", output: String(rows[0]?.["status"]) } as const;
  });
  const asked = await ask.catch(() => null);
  return asked?.kind === "done" && asked.output !== "in progress" ? asked.output : null;
}
