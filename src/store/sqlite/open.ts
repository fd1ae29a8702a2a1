import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";

import { RepriseError } from "../../core/errors.ts";
import { createListeners } from "../listeners.ts";
import type { Store } from "../store.ts";
import { openConnection, type SqliteConnection } from "./connection.ts";
import { corruptFile, isSqliteError, sqliteFailure } from "./failure.ts";
import { prepareFile } from "./file.ts";
import { createGroupCommit } from "./group-commit.ts";
import { rememberPlace } from "./in-place.ts";
import { migrateSqlite } from "./migrate.ts";
import { createReads } from "./reads.ts";
import { createWaitingLine } from "./waiting-line.ts";

export interface SqliteOptions {
  readonly path: string;
  /** Told what a person should know about the file, one sentence each. */
  readonly notice?: (sentence: string) => void;
  /** How long a writer waits while no other process commits, in milliseconds: 5000. Tests wait less. */
  readonly busyTimeoutMs?: number;
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
  const { notice, busyTimeoutMs = 5000 } = options;
  const found = prepareFile(path);
  const connections: SqliteConnection[] = [];
  try {
    const writer = openConnection(path, busyTimeoutMs);
    connections.push(writer);
    checkVersion(writer);
    const began = migrateSqlite(writer);
    if (statSync(path).nlink > 1) {
      notice?.(
        "The database file has a second name (a hard link); always open it by the same one, because each name has a log of its own and using both damages the database.",
      );
    }
    if (began && found === "empty") {
      notice?.(
        "The database file was there and empty, so a new database begins in it; if you expected sessions, restore a backup.",
      );
    }
    // the writer waits for locks without blocking the thread: see write-lock.ts
    writer.raw.exec("PRAGMA busy_timeout = 0");
    const reader = openConnection(path, busyTimeoutMs);
    connections.push(reader);
    reader.raw.exec("PRAGMA query_only = ON");
    return createSqliteStore({
      path,
      writer,
      reader,
      busyTimeoutMs,
      requirePlace: rememberPlace(path),
    });
  } catch (error) {
    for (const connection of connections) {
      connection.close();
    }
    throw openingFailure(error);
  }
}

/** Whatever else SQLite dislikes while a file is opened: its tables are not what its header says. */
function openingFailure(error: unknown): unknown {
  const failure = sqliteFailure(error);
  return isSqliteError(failure) ? corruptFile({ cause: failure }) : failure;
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
  busyTimeoutMs: number;
  requirePlace: () => void;
}): Store {
  const { writer, reader, busyTimeoutMs, requirePlace } = parts;
  const listeners = createListeners();
  const commits = createGroupCommit({
    connection: writer,
    onCommit: listeners.tell,
    busyTimeoutMs,
    line: createWaitingLine(realpathSync(parts.path)),
    requirePlace,
  });
  const reads = createReads(reader);
  let closing: Promise<void> | null = null;

  const close = async (): Promise<void> => {
    await Promise.all([commits.close(), reads.close()]);
    reader.close();
    writer.close();
  };

  return {
    location: parts.path,
    read: reads.read,
    write: commits.write,
    onCommit: listeners.add,
    mayHaveChanged: reads.mayHaveChanged,
    load: () => {
      const [writing, reading] = [commits.load(), reads.load()];
      return {
        connections: 2,
        idle: [writing, reading].filter(({ busy }) => !busy).length,
        most: 2,
        waiting: writing.waiting + reading.waiting,
      };
    },
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}
