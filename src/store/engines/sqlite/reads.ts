import { setImmediate as nextTurn } from "node:timers/promises";

import type { Operation, Store } from "../../store.ts";
import type { SqliteConnection } from "./connection.ts";
import { shuttingDown } from "../closing.ts";
import { createTx } from "../connection.ts";
import { sqliteDialect } from "./dialect.ts";
import { sqliteFailure } from "./failure.ts";
import type { ConnectionLoad } from "./group-commit.ts";
import { rollBack, queryValue } from "./statements.ts";

export interface Reads extends Pick<Store, "read" | "mayHaveChanged" | "close"> {
  load(): ConnectionLoad;
}

/** How long reads may run before other work gets a turn. */
const READING_SECONDS = 0.01;

/**
 * Reads take turns on one connection, each in a separate transaction, so that an operation of
 * several queries sees one state. They only ever wait for SQLite, which answers in this thread.
 */
export function createReads(connection: SqliteConnection): Reads {
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;
  let lastVersion: unknown = null;
  /** When the first read of this turn of the event loop began; null before it. */
  let firstInTurn: number | null = null;
  let unanswered = 0;

  // SQLite answers at once, so readers that follow on one another would keep timers and sockets
  // from ever being served
  const giveWay = async (): Promise<void> => {
    if (firstInTurn === null) {
      // the first use of `performance` loads a module, for a millisecond of each start
      firstInTurn = process.uptime();
      setImmediate(() => {
        firstInTurn = null;
      });
    } else if (process.uptime() - firstInTurn > READING_SECONDS) {
      await nextTurn();
    }
  };

  const inTurn = <Output>(work: () => Promise<Output>): Promise<Output> => {
    if (closed) {
      return Promise.reject(shuttingDown());
    }
    unanswered += 1;
    const answer = last
      .then(giveWay)
      .then(work)
      .catch((error: unknown) => {
        throw sqliteFailure(error);
      })
      .finally(() => {
        unanswered -= 1;
      });
    last = answer.catch(() => undefined);
    return answer;
  };

  return {
    read: (operation, input) => inTurn(() => readOne(connection, operation, input)),
    // in turn, because inside another read's transaction the version would be that snapshot's
    mayHaveChanged: () =>
      inTurn(async () => {
        const version = queryValue(connection.raw, "PRAGMA data_version");
        const changed = version !== lastVersion;
        lastVersion = version;
        return changed;
      }),
    load: () => ({ busy: unanswered > 0, waiting: Math.max(0, unanswered - 1) }),
    close: async () => {
      closed = true;
      await last;
    },
  };
}

async function readOne<Input, Output>(
  connection: SqliteConnection,
  operation: Operation<Input, Output>,
  input: Input,
): Promise<Output> {
  const tx = createTx(connection, sqliteDialect, null);
  connection.raw.exec("BEGIN");
  try {
    return await operation(tx, input);
  } finally {
    rollBack(connection.raw);
  }
}
