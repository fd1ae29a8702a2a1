import { RepriseError } from "../../core/errors.ts";
import { migrations } from "../migrations/history.ts";
import type { Migration } from "../migrations/migration.ts";
import type { SqliteConnection } from "./connection.ts";
import { sqliteDialect } from "./dialect.ts";

/** "RPRS" in the file's header (PRAGMA application_id): this file is a Reprise database. */
const APPLICATION_ID = 0x52505253;

/**
 * Brings the database to this program's version, each step in a transaction of its own. Two
 * processes that start together take turns: the version is read again under the write lock.
 *
 * Error codes: `database_newer`, `database_foreign`.
 */
export function migrateSqlite(connection: SqliteConnection): void {
  if (checkedVersion(connection) === latestVersion()) {
    return;
  }
  for (const migration of migrations) {
    applyOnce(connection, migration);
  }
}

function latestVersion(): number {
  return migrations.at(-1)?.version ?? 0;
}

function checkedVersion(connection: SqliteConnection): number {
  const version = pragma(connection, "user_version");
  const applicationId = pragma(connection, "application_id");
  if (applicationId !== APPLICATION_ID && !isEmpty(connection)) {
    throw new RepriseError(
      "database_foreign",
      "The file is a SQLite database of another program; name another file with --database.",
    );
  }
  if (version > latestVersion()) {
    throw new RepriseError(
      "database_newer",
      `The database was written by a newer Reprise (version ${version} of the tables; this program knows ${latestVersion()}); update Reprise, or name another file with --database.`,
    );
  }
  return version;
}

function applyOnce(connection: SqliteConnection, migration: Migration): void {
  connection.raw.exec("BEGIN IMMEDIATE");
  try {
    if (checkedVersion(connection) < migration.version) {
      for (const statement of migration.statements(sqliteDialect)) {
        connection.raw.exec(statement);
      }
      connection.raw.exec(
        `PRAGMA user_version = ${migration.version}; PRAGMA application_id = ${APPLICATION_ID}`,
      );
    }
    connection.raw.exec("COMMIT");
  } catch (error) {
    if (connection.raw.isTransaction) {
      connection.raw.exec("ROLLBACK");
    }
    throw error;
  }
}

function isEmpty(connection: SqliteConnection): boolean {
  return connection.raw.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

function pragma(connection: SqliteConnection, name: string): number {
  const value = connection.raw.prepare(`PRAGMA ${name}`).get()?.[name];
  if (typeof value !== "number") {
    throw new TypeError(`PRAGMA ${name} gave no number`);
  }
  return value;
}
