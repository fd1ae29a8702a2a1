import { statSync } from "node:fs";

import { RepriseError } from "../../../core/errors.ts";
import { latestVersion } from "../migrations/history.ts";
import { openConnection, type SqliteConnection } from "./connection.ts";
import { makeFile, prepareFile } from "./file.ts";
import { applyMigrations, isReady, readVersion, useWriteAheadLog } from "./migrate.ts";
import { type FileLock, hasFileLock, withFileLock } from "../../file-lock.ts";
import { queryValue } from "./statements.ts";

/**
 * Older versions can lose commits when a WAL is reset (https://sqlite.org/wal.html,
 * "WAL-reset bug").
 */
const MIN_SQLITE = [3, 51, 3] as const;

export interface SqliteOptions {
  readonly path: string;
  /** Called with what a person should know about the file, one sentence each. */
  readonly notice?: (sentence: string) => void;
  /**
   * False leaves out the backup that is made beside the file, as `<path>.version-<n>.backup`,
   * before the tables of an older version are upgraded.
   */
  readonly backup?: boolean;
  /**
   * How long a writer waits while no other process commits, in milliseconds: 5000. Tests wait less.
   */
  readonly busyTimeoutMs?: number;
}

/**
 * Opens the connection that writes on a database of this program's version. A file that is
 * missing is made, one of an older version is copied and upgraded, each by one process while the
 * others wait.
 *
 * Error codes: `database_*`, `file_unwritable`.
 */
export async function openReady(options: Required<SqliteOptions>): Promise<SqliteConnection> {
  const { path, notice } = options;
  // a lock that was left is taken, and so removed
  if (prepareFile(path) === "present" && !hasFileLock(path)) {
    const ready = closeUnless(isReady, open(options));
    if (ready !== null) {
      return ready;
    }
  }
  const onLongWait = (): void =>
    notice("Another process makes or upgrades the database; this one waits until that is done.");
  return withFileLock({ file: path, onLongWait }, (lock) => setUp(options, lock));
}

function open({ path, busyTimeoutMs }: Required<SqliteOptions>): SqliteConnection {
  const connection = openConnection(path, busyTimeoutMs);
  try {
    requireSafeSqlite(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function requireSafeSqlite({ raw }: SqliteConnection): void {
  const parts = String(queryValue(raw, "SELECT sqlite_version()")).split(".").map(Number);
  for (const [index, oldest] of MIN_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > oldest) {
      return;
    }
    if (part < oldest) {
      throw new RepriseError(
        "database_unsupported",
        "This Node.js includes a SQLite older than 3.51.3, which can lose commits. Use Node.js 24.15 or newer.",
      );
    }
  }
}

/** Closes the connection and returns null if it does not pass. */
function closeUnless(
  check: (connection: SqliteConnection) => boolean,
  connection: SqliteConnection,
): SqliteConnection | null {
  let passes = false;
  try {
    passes = check(connection);
  } finally {
    if (!passes) {
      connection.close();
    }
  }
  return passes ? connection : null;
}

async function setUp(options: Required<SqliteOptions>, lock: FileLock): Promise<SqliteConnection> {
  const { path, notice } = options;
  // once more: another process may have made it while this one waited
  const found = prepareFile(path);
  if (found === "missing") {
    lock.markMaking();
    makeFile(path);
  }
  const connection = open(options);
  try {
    const version = readVersion(connection);
    useWriteAheadLog(connection);
    if (version > 0 && version < latestVersion()) {
      await upgrade(connection, { ...options, version });
    } else if (version === 0) {
      applyMigrations(connection);
    }
    if (version === 0 && found === "empty" && !lock.wasMaking) {
      notice(
        "The database file was empty, so a new database was created in it. If you expected sessions, restore a backup.",
      );
    }
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function upgrade(
  connection: SqliteConnection,
  { path, version, backup, notice }: Required<SqliteOptions> & { readonly version: number },
): Promise<void> {
  const { backUpBeforeUpgrade } = await import("./backup/backup-before-upgrade.ts");
  const copy = backup ? await backUpBeforeUpgrade({ database: path, version }) : null;
  applyMigrations(connection);
  notice(
    `The database was upgraded from schema version ${version} to ${latestVersion()}; older versions of Reprise cannot open it any more. ${
      copy === null ? "No backup was made." : `A copy of it from before: ${copy}`
    }`,
  );
}

/** Warns of a second name of the file, under which it would have a second log. */
export function warnOfLinks({
  path,
  notice,
}: Pick<Required<SqliteOptions>, "path" | "notice">): void {
  if (statSync(path).nlink > 1) {
    notice(
      "The database file has a second name (a hard link); always open it by the same one, because each name has a separate log and using both damages the database.",
    );
  }
}
