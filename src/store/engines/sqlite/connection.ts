import { DatabaseSync } from "node:sqlite";

import {
  type CompiledQuery,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";

import { createKysely, parameterOf } from "../connection.ts";
import { createPreparedQueries, type PreparedQuery } from "../../prepared.ts";
import type { Database } from "../../tables/database.ts";
import type { Tx } from "../../store.ts";
import { sqliteDialect } from "./dialect.ts";
import { closeUnusedDescriptors } from "./file-watch.ts";

/** Connection to the file: kysely for the queries, `exec` for BEGIN, COMMIT and pragmas. */
export interface SqliteConnection {
  readonly db: Kysely<Database>;
  readonly rows: Tx["rows"];
  readonly raw: DatabaseSync;
  close(): void;
}

/** Prepared statements kept a connection, those used last: every query of the program fits. */
const MAX_STATEMENTS = 300;
/**
 * Longer ones hold lists of ids, of any length: kept, they would take megabytes and never
 * fit again.
 */
const MAX_CACHED_LENGTH = 4000;

/**
 * - FULL: a commit is on the disk before it is acknowledged.
 * - A log that grew during a long read (such as a backup) is cut to this size when it restarts.
 * - Functions in a file's own schema must be harmless, and pages are checked as they are read,
 *   because the file may come from anywhere.
 */
const SETTINGS = `
  PRAGMA synchronous = FULL;
  PRAGMA journal_size_limit = ${16 * 1024 * 1024};
  PRAGMA temp_store = MEMORY;
  PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON;`;

/**
 * Opens one connection and changes nothing in the file: it may be another program's.
 * `busyTimeoutMs` is how long a statement waits, in this thread, for another process's lock.
 * Throws SQLite's own errors: the caller turns them into sentences.
 */
export function openConnection(
  path: string,
  busyTimeoutMs: number,
  { readOnly = false } = {},
): SqliteConnection {
  const raw = new DatabaseSync(path, {
    readOnly,
    timeout: busyTimeoutMs,
    enableForeignKeyConstraints: true,
  });
  try {
    raw.exec(SETTINGS);
    raw.enableDefensive(true);
  } catch (error) {
    raw.close();
    throw error;
  }
  const statements = statementCache(raw);
  const db = createKysely(KYSELY_WORDS, <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
    try {
      return Promise.resolve(statements(query.sql)(query.parameters));
    } catch (error) {
      return Promise.reject(error);
    }
  });
  const close = (): void => {
    raw.close();
    closeUnusedDescriptors();
  };
  return { db, rows: preparedRows(db, statements), raw, close };
}

const KYSELY_WORDS = {
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};

function preparedRows(db: Kysely<Database>, statements: StatementCache): Tx["rows"] {
  const compile = createPreparedQueries({ db, dialect: sqliteDialect }, statements);
  return async <Values, Row>(query: PreparedQuery<Values, Row>, values: Values) => {
    const { statement, parameters } = compile(query, values);
    return statement<Row>(parameters).rows;
  };
}

type CachedStatement = <R>(parameters: readonly unknown[]) => QueryResult<R>;
type StatementCache = (sql: string) => CachedStatement;

function statementCache(raw: DatabaseSync): StatementCache {
  const cache = new Map<string, CachedStatement>();
  return (sql) => {
    const known = cache.get(sql);
    if (known !== undefined) {
      // after all others: the first one is then the least recently used
      cache.delete(sql);
      cache.set(sql, known);
      return known;
    }
    const statement = cachedStatement(raw, sql);
    if (sql.length <= MAX_CACHED_LENGTH) {
      const [oldest] = cache.size < MAX_STATEMENTS ? [] : cache.keys();
      cache.delete(oldest ?? "");
      cache.set(sql, statement);
    }
    return statement;
  };
}

/**
 * A statement that has columns is read; any other is run and says how much it changed.
 *
 * Refuses to be run outside a transaction. SQLite ends one by itself in some failures; an
 * operation that continued would commit the rest of its work statement by statement.
 */
function cachedStatement(raw: DatabaseSync, sql: string): CachedStatement {
  const statement = raw.prepare(sql);
  const names = statement.columns().map(({ name }) => name);
  const shape = Object.fromEntries(names.map((name) => [name, null]));
  statement.setReturnArrays(true);
  return <R>(parameters: readonly unknown[]): QueryResult<R> => {
    if (!raw.isTransaction) {
      throw new Error("the operation's transaction is over");
    }
    const values = parameters.map(parameterOf);
    if (names.length > 0) {
      const read: unknown = statement.all(...values);
      return { rows: (read as unknown[][]).map((cells) => rowOf(cells, names, shape)) as R[] };
    }
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  };
}

/**
 * A row as a plain object of one shape. Those that `node:sqlite` makes itself are dictionaries
 * without a prototype: to copy or to serialise one takes three times as long.
 */
function rowOf(
  cells: readonly unknown[],
  names: readonly string[],
  shape: Readonly<Record<string, null>>,
): Record<string, unknown> {
  // the shape is there from the beginning: growing an object by one name after another is slower
  const row: Record<string, unknown> = { ...shape };
  for (let index = 0; index < names.length; index += 1) {
    row[names[index] ?? ""] = cells[index];
  }
  return row;
}
