import { resolve } from "node:path";

import type { ReadOnlyStore } from "../../store.ts";
import { closeOnce } from "../closing.ts";
import { openConnection, type SqliteConnection } from "./connection.ts";
import { requireDatabase } from "../../database-path.ts";
import { openingFailure } from "./failure.ts";
import { requireTables } from "./migrate.ts";
import { createReads } from "./reads.ts";
import { refuseForeignWal } from "./foreign-wal.ts";

/** How long to wait for a lock: a process that opens the database for the first time has one. */
const BUSY_TIMEOUT_MS = 5000;

export interface SqliteSource {
  readonly path: string;
  /** Throws for a file that is not what the caller wants to read; by default one without sessions. */
  readonly check?: (connection: SqliteConnection) => void;
}

/**
 * Opens a database file to read it and nothing else: it is not made, not brought to a newer version
 * and not written, even if others use it.
 *
 * Error codes: `database_*`.
 */
export function openSqliteSource({ check = requireTables, ...given }: SqliteSource): ReadOnlyStore {
  const path = resolve(given.path);
  requireDatabase(path, "; name the file that holds what is to be read.");
  refuseForeignWal(path);
  const connection = open(path, check);
  const reads = createReads(connection);
  return {
    location: path,
    read: reads.read,
    ...closeOnce(async () => {
      await reads.close();
      connection.close();
    }),
  };
}

function open(path: string, check: (connection: SqliteConnection) => void): SqliteConnection {
  let connection: SqliteConnection | null = null;
  try {
    connection = openConnection(path, BUSY_TIMEOUT_MS, { readOnly: true });
    check(connection);
    return connection;
  } catch (error) {
    connection?.close();
    throw openingFailure(error);
  }
}
