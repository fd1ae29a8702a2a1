import {
  type DatabaseConnection,
  type Dialect as KyselyDialect,
  type Driver,
  Kysely,
} from "kysely";

import type { Database } from "../tables/database.ts";
import type { Tx } from "../store.ts";
import type { Dialect } from "../dialect.ts";

/** Kysely on one connection, with an engine's words. */
export function createKysely(
  engine: Omit<KyselyDialect, "createDriver">,
  executeQuery: DatabaseConnection["executeQuery"],
): Kysely<Database> {
  const streamQuery = (): never => {
    throw new Error("queries of the store are bounded; none is streamed");
  };
  const createDriver = () => singleConnectionDriver({ executeQuery, streamQuery });
  return new Kysely<Database>({ dialect: { ...engine, createDriver } });
}

/** Kysely's whole driver: one connection, always free, because the store opens the transactions. */
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

/** A query parameter as both engines take it: flags are numbers, nothing is turned into JSON. */
export function parameterOf(value: unknown): string | number | bigint | null | Uint8Array {
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
      throw new TypeError("a query parameter is of a type that the store does not keep");
  }
}

/**
 * Makes the transaction of an operation. The ids of the sessions that it changes go into `touched`; without it, the
 * operation only reads.
 */
export function createTx(
  { db, rows }: { readonly db: Kysely<Database>; readonly rows: Tx["rows"] },
  dialect: Dialect,
  touched: Set<string> | null,
): Tx {
  return {
    db,
    rows,
    dialect,
    touch: (id) => {
      if (touched === null) {
        throw new Error("an operation that only reads touches nothing");
      }
      touched.add(id);
    },
  };
}
