import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { RepriseError } from "../../../core/errors.ts";
import type { ReadOnlyStore } from "../../store.ts";
import { openConnection } from "./connection.ts";
import { corruptFile, isSqliteError, sqliteFailure } from "./failure.ts";
import { requireTables } from "./migrate.ts";
import { createReads } from "./reads.ts";
import { refuseForeignWal } from "./foreign-wal.ts";

/** How long to wait for a lock: a process that opens the database for the first time has one. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens a database file to read it and nothing else: it is not made, not brought to a newer version
 * and not written, whoever else uses it.
 *
 * Error codes: `database_*`.
 */
export function openSqliteSource(options: { readonly path: string }): ReadOnlyStore {
  const path = resolve(options.path);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new RepriseError(
      "database_unavailable",
      "There is no database at this place; name the file that holds the sessions.",
    );
  }
  refuseForeignWal(path);
  const connection = attempt(() => openConnection(path, BUSY_TIMEOUT_MS, { readOnly: true }));
  try {
    attempt(() => requireTables(connection));
  } catch (error) {
    connection.close();
    throw error;
  }
  const reads = createReads(connection);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    await reads.close();
    connection.close();
  };
  return {
    location: path,
    read: reads.read,
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
}

function attempt<Output>(work: () => Output): Output {
  try {
    return work();
  } catch (error) {
    const failure = sqliteFailure(error);
    throw isSqliteError(failure) ? corruptFile({ cause: failure }) : failure;
  }
}

/** What SQLite lays beside a database. */
const SIDE_FILES = ["-wal", "-shm", "-journal"];

/**
 * True if a path leads to a database file that is there, under whatever name, or to one of the
 * files that belong to it. No file is opened.
 */
export function isSameFile(database: string, path: string): boolean {
  const own = realpathSync(database);
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  const { dev, ino } = statSync(own, { bigint: true });
  return (
    (found?.dev === dev && found.ino === ino) ||
    SIDE_FILES.some((side) => placeOf(path) === own + side)
  );
}

/** With its folder's real path; null if there is no such folder. */
function placeOf(path: string): string | null {
  const folder = dirname(path);
  return statSync(folder, { throwIfNoEntry: false }) === undefined
    ? null
    : join(realpathSync(folder), basename(path));
}
