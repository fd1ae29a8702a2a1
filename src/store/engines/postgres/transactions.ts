import type { CommitListener, Operation, Store } from "../../store.ts";
import { type AttemptResult, attempt, retry } from "./retry.ts";
import { unconfirmedCommit } from "./failure.ts";
import { shuttingDown } from "../closing.ts";
import { createTx } from "../connection.ts";
import { postgresDialect } from "./dialect.ts";
import type { CheckedOutClient, PostgresPool } from "./pool.ts";
import { abandon, didCommit, requireKept } from "./resolve-commit.ts";
import { beginWriting, commit, type Transaction } from "./writing.ts";

export type Transactions = Pick<Store, "read" | "write" | "mayHaveChanged" | "close">;

/**
 * Runs operations, each in a transaction on a separate connection.
 *
 *     check out ─> BEGIN ─> operation ─> COMMIT ─> answer, call `onCommit`
 *       │        └─ lost, collision ─┘  └─ lost: did it commit? ─ yes ─> answer
 *       └──<── again, some times ──<──┴──<── no ────┘         └ nobody knows:
 * `database_unavailable`
 *
 * A commit whose answer was lost, or came with a warning, is acknowledged once a later one is kept.
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
  /** False if the server committed it without its standby. */
  isKept: boolean;
}

async function writeOnce<Input, Output>(
  pool: PostgresPool,
  operation: Operation<Input, Output>,
  input: Input,
): Promise<AttemptResult<Written<Output>>> {
  const seen: Seen<Output> = { transaction: null, unanswered: null, isKept: true };
  const tried = await attempt(pool, async ({ connection }) => {
    seen.transaction = await beginWriting(connection);
    const touched = new Set<string>();
    const tx = createTx(connection, postgresDialect, touched);
    const written = { output: await operation(tx, input), touched };
    try {
      seen.isKept = await commit(connection);
    } catch (error) {
      seen.unanswered = written;
      throw error;
    }
    return { kind: "done", output: written } as const;
  });
  const { transaction, unanswered, isKept } = seen;
  if (!isKept && transaction !== null) {
    await requireKept(pool, transaction, unconfirmedCommit());
  }
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
