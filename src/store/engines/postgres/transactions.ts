import type { CommitListener, Operation, Store } from "../../store.ts";
import { type AttemptResult, attempt, retry } from "./retry.ts";
import type { PostgresConnection } from "./connection.ts";
import { shuttingDown } from "../closing.ts";
import { createTx } from "../connection.ts";
import { postgresDialect } from "./dialect.ts";
import { requireDurable, SYNCHRONOUS_COMMIT } from "./durability.ts";
import type { CheckedOutClient, PostgresPool } from "./pool.ts";
import { SERVER_LIFE } from "./server-life.ts";
import { abandon, didCommit, type Transaction } from "./resolve-commit.ts";

export type Transactions = Pick<Store, "read" | "write" | "mayHaveChanged" | "close">;

/**
 * Runs operations, each in a transaction on a separate connection.
 *
 *     check out ─> BEGIN ─> operation ─> COMMIT ─> answer, call `onCommit`
 *       │        └─ lost, collision ─┘  └─ lost: did it commit? ─ yes ─> answer
 *       └──<── again, some times ──<──┴──<── no ────┘         └ nobody knows:
 * `database_unavailable`
 *
 * Operations keep nothing outside their transaction, so one that did not commit can be run again.
 */
export function createTransactions(pool: PostgresPool, onCommit: CommitListener): Transactions {
  const running = new Set<Promise<unknown>>();
  let closed = false;

  const accept = <Output>(work: () => Promise<Output>): Promise<Output> => {
    if (closed) {
      return Promise.reject(shuttingDown());
    }
    const answer = work();
    const finished = answer
      .catch(() => undefined)
      .finally(() => {
        running.delete(finished);
      });
    running.add(finished);
    return answer;
  };

  return {
    read: (operation, input) =>
      accept(() => retry(() => attempt(pool, (client) => readOnce(client, operation, input)))),
    write: (operation, input) =>
      accept(async () => {
        const { output, touched } = await retry(() => writeOnce(pool, operation, input));
        if (touched.size > 0) {
          onCommit(touched);
        }
        return output;
      }),
    // asking would cost as much as checking
    mayHaveChanged: () => accept(() => Promise.resolve(true)),
    close: async () => {
      closed = true;
      await Promise.all(running);
    },
  };
}

async function readOnce<Input, Output>(
  { connection }: CheckedOutClient,
  operation: Operation<Input, Output>,
  input: Input,
): Promise<AttemptResult<Output>> {
  await connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const output = await operation(createTx(connection, postgresDialect, null), input);
  await connection.run("COMMIT");
  return { kind: "done", output };
}

interface Written<Output> {
  readonly output: Output;
  readonly touched: ReadonlySet<string>;
}

/** How far a write came before its connection was lost. */
interface Seen<Output> {
  transaction: Transaction | null;
  /** Set once COMMIT was sent and its answer failed to come. */
  unanswered: Written<Output> | null;
}

async function writeOnce<Input, Output>(
  pool: PostgresPool,
  operation: Operation<Input, Output>,
  input: Input,
): Promise<AttemptResult<Written<Output>>> {
  const seen: Seen<Output> = { transaction: null, unanswered: null };
  const tried = await attempt(pool, async ({ connection }) => {
    seen.transaction = await beginWriting(connection);
    const touched = new Set<string>();
    const tx = createTx(connection, postgresDialect, touched);
    const written = { output: await operation(tx, input), touched };
    try {
      await commit(connection);
    } catch (error) {
      seen.unanswered = written;
      throw error;
    }
    return { kind: "done", output: written } as const;
  });
  const { transaction, unanswered } = seen;
  if (tried.kind === "done" || tried.why !== "lost" || transaction === null) {
    return tried;
  }
  if (unanswered === null) {
    await abandon(pool, transaction);
    return tried;
  }
  const committed = await didCommit(pool, transaction, tried.error);
  return committed ? { kind: "done", output: unanswered } : tried;
}

/** One round trip: the check and the server's number of the transaction come along with BEGIN. */
const BEGIN_WRITING = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT pg_current_xact_id()::text AS id, ${SYNCHRONOUS_COMMIT} AS synchronous_commit`;
const BEGIN_WRITING_POOLED = `${BEGIN_WRITING}, ${SERVER_LIFE} AS server`;

async function beginWriting({ run, server }: PostgresConnection): Promise<Transaction> {
  const { rows } = await run(server === null ? BEGIN_WRITING_POOLED : BEGIN_WRITING);
  const [began] = rows;
  requireDurable(began?.["synchronous_commit"]);
  return { id: String(began?.["id"]), server: server ?? String(began?.["server"]) };
}

/** The server answers a COMMIT after a failed statement with ROLLBACK, and without an error. */
async function commit(connection: PostgresConnection): Promise<void> {
  const { command } = await connection.run("COMMIT");
  if (command !== "COMMIT") {
    throw new Error("an operation continued after the database had refused one of its statements");
  }
}
