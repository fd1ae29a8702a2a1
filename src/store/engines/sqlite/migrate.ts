import { RepriseError } from "../../../core/errors.ts";
import {
  databaseTooOld,
  latestVersion,
  migrations,
  requireCurrent,
} from "../migrations/history.ts";
import type { SqliteConnection } from "./connection.ts";
import { sqliteDialect } from "./dialect.ts";
import { rollBack, queryValue } from "./statements.ts";

/** "rprs" in the file's header (PRAGMA application_id): this file is a Reprise database. */
export const APPLICATION_ID = 0x72707273;

/** "RPRS", of the builds before the baseline. No damage to one byte makes one of the other. */
export const EARLIER_APPLICATION_ID = 0x52505253;

/**
 * True for a database that needs nothing more than to be opened.
 *
 * Error codes: `database_newer`, `database_too_old`, `database_foreign`.
 */
export function isReady(connection: SqliteConnection): boolean {
  return readVersion(connection) === latestVersion() && hasWriteAheadLog(connection);
}

/**
 * The schema version, 0 if there are no tables. Changes nothing in the file.
 *
 * Error codes: `database_newer`, `database_too_old`, `database_foreign`.
 */
export function readVersion(connection: SqliteConnection): number {
  return inTransaction(connection, "BEGIN", () => checkedVersion(connection));
}

/**
 * Brings the database to this program's version in one transaction: one that is killed on the way
 * is of the version before. Another process may have done so before: the version is read again
 * under the write lock.
 *
 * Error codes: `database_newer`, `database_too_old`, `database_foreign`.
 */
export function applyMigrations(connection: SqliteConnection): void {
  inTransaction(connection, "BEGIN IMMEDIATE", () => {
    const version = checkedVersion(connection);
    for (const migration of migrations.filter((step) => step.version > version)) {
      for (const statement of migration.statements(sqliteDialect)) {
        connection.raw.exec(statement);
      }
    }
    connection.raw.exec(
      `PRAGMA user_version = ${latestVersion()}; PRAGMA application_id = ${APPLICATION_ID}`,
    );
  });
}

/**
 * Refuses a file that this program cannot read without changing it first.
 *
 * Error codes: `database_newer`, `database_too_old`, `database_foreign`, `database_unavailable` (an
 * empty one), `database_unsupported` (an older one).
 */
export function requireTables(connection: SqliteConnection): void {
  requireCurrent(readVersion(connection));
}

/**
 * The journal mode is kept in the file, so only the first process ever changes it.
 *
 * Error codes: `database_unsupported`.
 */
export function useWriteAheadLog(connection: SqliteConnection): void {
  if (hasWriteAheadLog(connection)) {
    return;
  }
  if (queryValue(connection.raw, "PRAGMA journal_mode = WAL") !== "wal") {
    throw new RepriseError(
      "database_unsupported",
      "SQLite cannot keep a write-ahead log at this path. Name a file on a local disk with --database.",
    );
  }
}

function hasWriteAheadLog({ raw }: SqliteConnection): boolean {
  return queryValue(raw, "PRAGMA journal_mode") === "wal";
}

/** Belongs into a transaction: another process may be making the database at this moment. */
function checkedVersion({ raw }: SqliteConnection): number {
  const version = Number(queryValue(raw, "PRAGMA user_version"));
  const applicationId = queryValue(raw, "PRAGMA application_id");
  const isEmpty = queryValue(raw, "SELECT count(*) FROM sqlite_schema") === 0;
  const blank = applicationId === 0 && version === 0 && isEmpty;
  if (applicationId === EARLIER_APPLICATION_ID) {
    throw databaseTooOld();
  }
  if (applicationId !== APPLICATION_ID && !blank) {
    throw new RepriseError(
      "database_foreign",
      "The file is a SQLite database of another program; name another file with --database.",
    );
  }
  if (version > latestVersion()) {
    throw new RepriseError(
      "database_newer",
      `The database was written by a newer Reprise (schema version ${version}; this program knows ${latestVersion()}). Update Reprise, or name another file with --database.`,
    );
  }
  return version;
}

function inTransaction<Output>(
  { raw }: SqliteConnection,
  begin: "BEGIN" | "BEGIN IMMEDIATE",
  work: () => Output,
): Output {
  raw.exec(begin);
  try {
    const output = work();
    raw.exec("COMMIT");
    return output;
  } catch (error) {
    rollBack(raw);
    throw error;
  }
}
