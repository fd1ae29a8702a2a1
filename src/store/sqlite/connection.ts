import { DatabaseSync, type StatementSync } from "node:sqlite";

import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";

import type { Database } from "../schema.ts";

/** One connection to the file: kysely for the queries, `exec` for BEGIN, COMMIT and pragmas. */
export interface SqliteConnection {
  readonly db: Kysely<Database>;
  readonly raw: DatabaseSync;
  close(): void;
}

/** Prepared statements kept a connection, those used last: every query of the program fits. */
const STATEMENTS_KEPT = 300;
/** Longer ones hold lists of ids, of any length: kept, they would take megabytes and never fit again. */
const LONGEST_KEPT = 4000;

/**
 * - FULL: a commit is on the disk before it is acknowledged.
 * - A log that grew behind a long read (a backup, say) is cut to this size once it begins anew.
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
export function openConnection(path: string, busyTimeoutMs: number): SqliteConnection {
  const raw = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
  try {
    raw.exec(SETTINGS);
    raw.enableDefensive(true);
  } catch (error) {
    raw.close();
    throw error;
  }
  const connection = kyselyConnection(raw);
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => singleConnectionDriver(connection),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  return { db, raw, close: () => raw.close() };
}

/** The whole driver: one connection, always free, because the store queues in front of it. */
function singleConnectionDriver(connection: DatabaseConnection): Driver {
  const unsupported = () => Promise.reject(new Error("the store opens and closes transactions"));
  return {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(connection),
    beginTransaction: unsupported,
    commitTransaction: unsupported,
    rollbackTransaction: unsupported,
    releaseConnection: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
}

/**
 * Refuses queries outside a transaction. SQLite ends one by itself in some failures; an operation
 * that went on regardless would commit the rest of its work statement by statement.
 */
function kyselyConnection(raw: DatabaseSync): DatabaseConnection {
  const prepare = statementCache(raw);
  return {
    executeQuery: <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      try {
        if (!raw.isTransaction) {
          throw new Error("the operation's transaction is over");
        }
        return Promise.resolve(prepare(query.sql)(query.parameters));
      } catch (error) {
        return Promise.reject(error);
      }
    },
    streamQuery: () => {
      throw new Error("queries of the store are bounded; none is streamed");
    },
  };
}

type CachedStatement = <R>(parameters: readonly unknown[]) => QueryResult<R>;

function statementCache(raw: DatabaseSync): (sql: string) => CachedStatement {
  const cache = new Map<string, CachedStatement>();
  return (sql) => {
    const known = cache.get(sql);
    if (known !== undefined) {
      // behind all others: the first one is then the one not used for the longest time
      cache.delete(sql);
      cache.set(sql, known);
      return known;
    }
    const statement = cachedStatement(raw.prepare(sql));
    if (sql.length <= LONGEST_KEPT) {
      const [oldest] = cache.size < STATEMENTS_KEPT ? [] : cache.keys();
      cache.delete(oldest ?? "");
      cache.set(sql, statement);
    }
    return statement;
  };
}

/** A statement that has columns is read; any other is carried out and says how much it changed. */
function cachedStatement(statement: StatementSync): CachedStatement {
  const reads = statement.columns().length > 0;
  return <R>(parameters: readonly unknown[]): QueryResult<R> => {
    const values = parameters.map(sqliteValue);
    if (reads) {
      return { rows: statement.all(...values) as R[] };
    }
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  };
}

function sqliteValue(value: unknown): string | number | bigint | null | Uint8Array {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
      return value;
    case "boolean":
      return value ? 1 : 0;
    default:
      if (value === null || value === undefined) {
        return null;
      }
      if (value instanceof Uint8Array) {
        return value;
      }
      throw new TypeError("a query parameter is of a type that SQLite does not store");
  }
}
