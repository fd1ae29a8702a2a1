import { RepriseError } from "../../../core/errors.ts";
import {
  createdTables,
  databaseTooOld,
  latestVersion,
  migrations,
  requireCurrent,
} from "../migrations/history.ts";
import type { Migration } from "../migrations/migration.ts";
import type { PostgresConnection } from "./connection.ts";
import { postgresDialect } from "./dialect.ts";
import { requireDurable, SYNCHRONOUS_COMMIT } from "./durability.ts";

/** Lock for which the transactions of all nodes queue up that bring the tables to a version. */
const MIGRATION_LOCK = 0x52505253;

/** Time-outs of the one node that makes the tables; the others wait for it, however long a row may be waited for. */
const TIMEOUTS = "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = '120s'";

/**
 * Brings the tables to this program's version, each step in a separate transaction. Nodes that
 * start together take turns: the version is read again under an advisory lock. What is refused is
 * not changed.
 *
 * Error codes: `database_newer`, `database_too_old`, `database_foreign`, `database_unsupported`,
 * `config_invalid`.
 */
export async function migratePostgres(
  connection: PostgresConnection,
  notice: (sentence: string) => void,
): Promise<void> {
  const version = await readVersion(connection);
  if (version === latestVersion()) {
    return;
  }
  if (version > 0) {
    notice(
      `The database is upgraded from schema version ${version} to ${latestVersion()}. Older versions of Reprise can then no longer open it. No backup is made on PostgreSQL: see docs/databases.md, "Upgrades".`,
    );
  }
  for (const migration of migrations) {
    await applyOnce(connection, migration);
  }
}

/**
 * Refuses a database that this program cannot read without changing it first.
 *
 * Error codes: `database_newer`, `database_too_old`, `database_foreign`, `database_unavailable` (an
 * empty one), `database_unsupported` (an older one), `config_invalid`.
 */
export async function requireTables(connection: PostgresConnection): Promise<void> {
  requireCurrent(await readVersion(connection));
}

async function applyOnce(connection: PostgresConnection, migration: Migration): Promise<void> {
  const { rows } = await connection.run(
    `BEGIN ISOLATION LEVEL READ COMMITTED; ${TIMEOUTS}; SELECT ${SYNCHRONOUS_COMMIT} AS synchronous_commit`,
  );
  try {
    requireDurable(rows[0]?.["synchronous_commit"]);
    await connection.run(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    if ((await readVersion(connection)) < migration.version) {
      for (const statement of [CREATE_VERSIONS, ...migration.statements(postgresDialect)]) {
        await connection.run(statement);
      }
      await connection.run(
        `INSERT INTO ${VERSIONS} (version, name) VALUES (${migration.version}, '${migration.name}')`,
      );
    }
    await connection.run("COMMIT");
  } catch (error) {
    await connection.run("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** A row for each step of the history. */
const VERSIONS = "reprise_versions";
/** Marks of builds before the baseline: they refuse these tables, too, as those of another program. */
const EARLIER_VERSIONS = "reprise_migrations";

const CREATE_VERSIONS = `CREATE TABLE IF NOT EXISTS ${VERSIONS} (
  version integer PRIMARY KEY,
  name text NOT NULL,
  applied_at text NOT NULL DEFAULT (${postgresDialect.column.now})
)`;

/**
 * The schema version, 0 if Reprise has no tables yet. Changes nothing.
 *
 * Error codes: `database_newer`, `database_too_old`, `database_foreign`, `config_invalid`.
 */
export async function readVersion(connection: PostgresConnection): Promise<number> {
  const found = await tablesOf(connection);
  const version = found.has(VERSIONS) ? await lastStep(connection) : 0;
  if (version === 0 && found.has(EARLIER_VERSIONS)) {
    throw databaseTooOld();
  }
  if (version > latestVersion()) {
    throw new RepriseError(
      "database_newer",
      `The database was written by a newer Reprise (schema version ${version}; this program knows ${latestVersion()}). Update Reprise, or name another database.`,
    );
  }
  const [taken] = createdTables(postgresDialect, version).filter((name) => found.has(name));
  if (taken !== undefined) {
    throw new RepriseError(
      "database_foreign",
      version === 0
        ? "The database has tables of another program under the names that Reprise needs; name another database, or a separate schema with options=-c%20search_path=reprise."
        : `The database has a table \`${taken}\` of another program, and this version of Reprise needs the name. Rename that table, or move Reprise's tables to a separate schema.`,
    );
  }
  return version;
}

async function lastStep(connection: PostgresConnection): Promise<number> {
  const { rows } = await connection.run(
    `SELECT coalesce(max(version), 0) AS version FROM ${VERSIONS}`,
  );
  return Number(rows[0]?.["version"]);
}

/** Returns those of our tables that exist in the schema in which new ones would be created. */
async function tablesOf(connection: PostgresConnection): Promise<ReadonlySet<string>> {
  const { rows } = await connection.run(TABLES);
  const [first] = rows;
  if (first?.["schema"] === null) {
    throw new RepriseError(
      "config_invalid",
      "The schema that the address of the database names does not exist; make it with CREATE SCHEMA, or leave search_path out.",
    );
  }
  for (const { sequence, cache } of rows) {
    requireOrdered(sequence, Number(cache));
  }
  return new Set(rows.flatMap(({ name }) => (typeof name === "string" ? [name] : [])));
}

/**
 * Refuses a sequence that gives numbers out in blocks: each connection uses up its own block, so a
 * later row can get a lower number. The head of a thread and the marks of pruning rely on the order.
 */
function requireOrdered(sequence: unknown, cache: number): void {
  if (typeof sequence === "string" && cache !== 1) {
    throw new RepriseError(
      "database_unsupported",
      `The sequence ${sequence} gives out row numbers in blocks (CACHE ${cache}), so later rows could get lower numbers than earlier ones. Stop all nodes, run ALTER SEQUENCE ${sequence} CACHE 1, and start them again.`,
    );
  }
}

const OURS = [VERSIONS, EARLIER_VERSIONS, ...createdTables(postgresDialect, 0)]
  .map((name) => `'${name}'`)
  .join(", ");

const TABLES = `SELECT current_schema() AS schema, relname AS name,
    seqrelid::regclass::text AS sequence, seqcache AS cache
  FROM (SELECT 1) AS one LEFT JOIN pg_class
    ON relnamespace = current_schema()::regnamespace AND relname IN (${OURS})
  LEFT JOIN (pg_depend JOIN pg_sequence ON classid = 'pg_class'::regclass AND objid = seqrelid)
    ON refclassid = 'pg_class'::regclass AND refobjid = pg_class.oid AND deptype IN ('i', 'a')`;
