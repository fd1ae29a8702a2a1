import { RepriseError } from "../../core/errors.ts";
import { latestVersion, migrations, requireCurrent } from "../migrations/history.ts";
import type { Migration } from "../migrations/migration.ts";
import type { SqliteConnection } from "./connection.ts";
import { sqliteDialect } from "./dialect.ts";

/** "RPRS" in the file's header (PRAGMA application_id): this file is a Reprise database. */
export const APPLICATION_ID = 0x52505253;

/**
 * Brings the database to this program's version, each step in a transaction of its own. Two
 * processes that start together take turns: the version is read again under the write lock. A file
 * that is refused is left as it was. Returns true where the database began here and now.
 *
 * Error codes: `database_newer`, `database_foreign`, `database_unsupported`.
 */
export function migrateSqlite(connection: SqliteConnection): boolean {
  const version = inTransaction(connection, "BEGIN", () => checkedVersion(connection));
  writeAheadLog(connection);
  if (version === latestVersion()) {
    return false;
  }
  let began = false;
  for (const [index, migration] of migrations.entries()) {
    const applied = applyOnce(connection, migration);
    began ||= applied && index === 0;
  }
  return began;
}

/**
 * Refuses a file that this program cannot read without changing it first.
 *
 * Error codes: `database_newer`, `database_foreign`, `database_unavailable` (an empty one),
 * `database_unsupported` (an older one).
 */
export function requireTables(connection: SqliteConnection): void {
  requireCurrent(inTransaction(connection, "BEGIN", () => checkedVersion(connection)));
}

/** The journal mode is kept in the file, so only the first process ever changes it. */
function writeAheadLog({ raw }: SqliteConnection): void {
  if (raw.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal") {
    return;
  }
  if (raw.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"] !== "wal") {
    throw new RepriseError(
      "database_unsupported",
      "SQLite cannot keep a write-ahead log at this place; name a file on a local disk with --database.",
    );
  }
}

/** Belongs into a transaction: another process may be making the database at this moment. */
function checkedVersion(connection: SqliteConnection): number {
  const version = pragma(connection, "user_version");
  const applicationId = pragma(connection, "application_id");
  const blank = applicationId === 0 && version === 0 && isEmpty(connection);
  if (applicationId !== APPLICATION_ID && !blank) {
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

/** Returns false where the step was taken before, here or by another process. */
function applyOnce(connection: SqliteConnection, migration: Migration): boolean {
  return inTransaction(connection, "BEGIN IMMEDIATE", () => {
    if (checkedVersion(connection) >= migration.version) {
      return false;
    }
    for (const statement of migration.statements(sqliteDialect)) {
      connection.raw.exec(statement);
    }
    connection.raw.exec(
      `PRAGMA user_version = ${migration.version}; PRAGMA application_id = ${APPLICATION_ID}`,
    );
    return true;
  });
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
    if (raw.isTransaction) {
      raw.exec("ROLLBACK");
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
