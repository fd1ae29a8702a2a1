import type { DatabaseSync } from "node:sqlite";

/** The first value of a query's first row: `PRAGMA user_version`, say. */
export function queryValue(raw: DatabaseSync, query: string): unknown {
  return Object.values(raw.prepare(query).get() ?? {})[0];
}

/**
 * Ends the open transaction; SQLite may have ended it by itself, as it does when the disk is full.
 */
export function rollBack(raw: DatabaseSync): void {
  if (raw.isTransaction) {
    raw.exec("ROLLBACK");
  }
}
