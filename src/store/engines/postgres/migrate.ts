import { RepriseError } from "../../../core/errors.ts";
import { latestVersion, migrations, requireCurrent } from "../migrations/history.ts";
import type { Migration } from "../migrations/migration.ts";
import type { PostgresConnection } from "./connection.ts";
import { postgresDialect } from "./dialect.ts";
import { requireDurable, SYNCHRONOUS_COMMIT } from "./durability.ts";

/** What the transactions of all nodes that bring the tables to a version queue up for. */
const MIGRATION_LOCK = 0x52505253;

/**
 * One of many nodes makes the tables; the others wait for it, however long a row may be waited for.
 */
const TIMEOUTS = "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = '120s'";

/**
 * Brings the tables to this program's version, each step in a separate transaction. Nodes that
 * start together take turns: the version is read again under an advisory lock. What is refused is
 * not changed. Returns what the tables hold then.
 *
 * Error codes: `database_newer`, `database_foreign`, `database_unsupported`, `config_invalid`.
 */
export async function migratePostgres(
  connection: PostgresConnection,
  notice: (sentence: string) => void,
): Promise<Pick<TablesState, "isRootless">> {
  const { version, isRootless } = await readTables(connection);
  if (version === latestVersion()) {
    return { isRootless };
  }
  if (version > 0) {
    notice(
      `The database is upgraded from schema version ${version} to ${latestVersion()}. Older versions of Reprise can then no longer open it. No backup is made on PostgreSQL: see docs/operations.md, "Upgrades".`,
    );
  }
  for (const migration of migrations) {
    await applyOnce(connection, migration);
  }
  return { isRootless: version > 0 };
}

/**
 * Refuses a database that this program cannot read without changing it first.
 *
 * Error codes: `database_newer`, `database_foreign`, `database_unavailable` (an empty one),
 * `database_unsupported` (an older one), `config_invalid`.
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
      for (const statement of [VERSIONS, ...migration.statements(postgresDialect)]) {
        await connection.run(statement);
      }
      await connection.run(
        `INSERT INTO reprise_migrations (version, name) VALUES (${migration.version}, '${migration.name}')`,
      );
    }
    await connection.run("COMMIT");
  } catch (error) {
    await connection.run("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

const VERSIONS = `CREATE TABLE IF NOT EXISTS reprise_migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  applied_at text NOT NULL DEFAULT (${postgresDialect.column.now})
)`;

/**
 * The schema version, 0 if Reprise has no tables yet. Changes nothing.
 *
 * Error codes: `database_newer`, `database_foreign`, `config_invalid`.
 */
export async function readVersion(connection: PostgresConnection): Promise<number> {
  return (await readTables(connection)).version;
}

interface TablesState {
  readonly version: number;
  /** True if an older version has written sessions that don't name their root. */
  readonly isRootless: boolean;
}

async function readTables(connection: PostgresConnection): Promise<TablesState> {
  const found = await tablesOf(connection);
  if (!found.has("reprise_migrations")) {
    if (found.size > 0) {
      throw new RepriseError(
        "database_foreign",
        "The database has tables of another program under the names that Reprise needs; name another database, or a separate schema with options=-c%20search_path=reprise.",
      );
    }
    return { version: 0, isRootless: false };
  }
  if (found.has("threads") && found.has("checkpoint_threads")) {
    throw nameTaken("threads");
  }
  // version 11 gives the table its name and the sessions the column
  const isRootless = found.has("threads") ? IS_ROOTLESS : "false";
  const { rows } = await connection.run(
    `SELECT coalesce(max(version), 0) AS version, ${isRootless} AS rootless FROM reprise_migrations`,
  );
  const version = Number(rows[0]?.["version"]);
  if (version > latestVersion()) {
    throw new RepriseError(
      "database_newer",
      `The database was written by a newer Reprise (schema version ${version}; this program knows ${latestVersion()}). Update Reprise, or name another database.`,
    );
  }
  if (version < EXCHANGES_VERSION && found.has("exchanges")) {
    throw nameTaken("exchanges");
  }
  return { version, isRootless: rows[0]?.["rootless"] === true };
}

/** Which made the table `exchanges`. */
const EXCHANGES_VERSION = 12;

function nameTaken(table: string): RepriseError {
  return new RepriseError(
    "database_foreign",
    `The database has a table \`${table}\` of another program, and this version of Reprise needs the name. Rename that table, or move Reprise's tables to a separate schema.`,
  );
}

const IS_ROOTLESS = "EXISTS (SELECT 1 FROM sessions WHERE root_session_id IS NULL)";

/** Those of our tables that exist in the schema in which new ones would be created. */
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

const TABLES = `SELECT current_schema() AS schema, relname AS name,
    seqrelid::regclass::text AS sequence, seqcache AS cache
  FROM (SELECT 1) AS one LEFT JOIN pg_class
    ON relnamespace = current_schema()::regnamespace AND relname IN
    ('reprise_migrations', 'sessions', 'messages', 'threads', 'checkpoint_threads',
     'checkpoint_bodies', 'checkpoint_lists', 'checkpoint_list_items', 'checkpoints',
     'checkpoint_writes', 'readiness_probes', 'session_changes', 'exchanges')
  LEFT JOIN (pg_depend JOIN pg_sequence ON classid = 'pg_class'::regclass AND objid = seqrelid)
    ON refclassid = 'pg_class'::regclass AND refobjid = pg_class.oid AND deptype IN ('i', 'a')`;
