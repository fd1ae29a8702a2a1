import { resolve } from "node:path";

import { RepriseError } from "../../core/errors.ts";
import type { CommitListener, Operation, Store, Tx } from "../store.ts";
import { openConnection, type SqliteConnection } from "./connection.ts";
import { sqliteDialect } from "./dialect.ts";
import { sqliteFailure } from "./failure.ts";
import { prepareFile } from "./file.ts";
import { createGroupCommit } from "./group-commit.ts";
import { migrateSqlite } from "./migrate.ts";

export interface SqliteOptions {
  readonly path: string;
  /** Told what a person should know about the file, one sentence each. */
  readonly notice?: (sentence: string) => void;
}

/** Older versions can lose commits when a WAL is reset (https://sqlite.org/wal.html, "WAL-reset bug"). */
const OLDEST_SQLITE = [3, 51, 3] as const;

/**
 * Opens (and where needed makes) one SQLite file as the store: one connection that writes, one
 * that reads. Several processes may have the same file open.
 *
 * Error codes: `database_*`.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const path = resolve(options.path);
  const found = prepareFile(path);
  if (found === "empty") {
    options.notice?.(
      "The database file was there and empty, so a new database begins in it; if you expected sessions, restore a backup.",
    );
  }
  const connections: SqliteConnection[] = [];
  try {
    const writer = openConnection(path);
    connections.push(writer);
    checkVersion(writer);
    migrateSqlite(writer);
    // the writer waits for locks without blocking the thread: see group-commit.ts
    writer.raw.exec("PRAGMA busy_timeout = 0");
    const reader = openConnection(path);
    connections.push(reader);
    reader.raw.exec("PRAGMA query_only = ON");
    return createSqliteStore({ path, writer, reader });
  } catch (error) {
    for (const connection of connections) {
      connection.close();
    }
    throw sqliteFailure(error);
  }
}

function checkVersion(connection: SqliteConnection): void {
  const version = connection.raw.prepare("SELECT sqlite_version() AS version").get()?.["version"];
  const parts = String(version).split(".").map(Number);
  for (const [index, oldest] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > oldest) {
      return;
    }
    if (part < oldest) {
      throw new RepriseError(
        "database_unsupported",
        "This Node.js brings a SQLite older than 3.51.3, which can lose commits; use Node.js 24.15 or newer.",
      );
    }
  }
}

function createSqliteStore(parts: {
  path: string;
  writer: SqliteConnection;
  reader: SqliteConnection;
}): Store {
  const { writer, reader } = parts;
  const listeners = new Set<CommitListener>();
  const commits = createGroupCommit(writer, (sessionIds) => {
    for (const listener of listeners) {
      listener(sessionIds);
    }
  });
  const read = queuedReads(reader);
  let lastVersion = -1;
  let closing: Promise<void> | null = null;

  const close = async (): Promise<void> => {
    await commits.close();
    await read.close();
    reader.close();
    writer.close();
  };

  return {
    location: parts.path,
    read: read.read,
    write: commits.write,
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    mayHaveChanged: async () => {
      const version = Number(reader.raw.prepare("PRAGMA data_version").get()?.["data_version"]);
      const changed = version !== lastVersion;
      lastVersion = version;
      return changed;
    },
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

/**
 * Reads take turns on one connection, each in a transaction of its own, so that an operation of
 * several queries sees one state. They only ever wait for SQLite, which answers in this thread.
 */
function queuedReads(connection: SqliteConnection): Pick<Store, "read" | "close"> {
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;
  const tx: Tx = {
    db: connection.db,
    dialect: sqliteDialect,
    touch: () => {
      throw new Error("an operation that only reads touches nothing");
    },
  };

  const carryOut = async <Input, Output>(
    operation: Operation<Input, Output>,
    input: Input,
  ): Promise<Output> => {
    try {
      connection.raw.exec("BEGIN");
      return await operation(tx, input);
    } catch (error) {
      throw sqliteFailure(error);
    } finally {
      if (connection.raw.isTransaction) {
        connection.raw.exec("COMMIT");
      }
    }
  };

  return {
    read: (operation, input) => {
      if (closed) {
        return Promise.reject(
          new RepriseError("shutting_down", "Reprise is shutting down; try again later."),
        );
      }
      const answer = last.then(() => carryOut(operation, input));
      last = answer.catch(() => undefined);
      return answer;
    },
    close: async () => {
      closed = true;
      await last;
    },
  };
}
