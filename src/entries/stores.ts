import {
  openPostgresStore as openPostgres,
  type PostgresOptions,
} from "../store/engines/postgres/open.ts";
import { openSqliteStore as openSqlite } from "../store/engines/sqlite/open.ts";
import type { SqliteOptions } from "../store/engines/sqlite/set-up.ts";
import type { OpenStore } from "../store/store.ts";

/**
 * Opens (and if needed creates or upgrades) one SQLite file as the store. Several processes may have
 * the same file open.
 *
 * Error codes: `database_*`.
 */
export function openSqliteStore(options: SqliteOptions): Promise<OpenStore> {
  return openSqlite(options);
}

/**
 * Opens a PostgreSQL database as the store, for any number of nodes at once. Tables that are missing
 * are created.
 *
 * Error codes: `database_*`, `config_invalid`.
 */
export function openPostgresStore(options: PostgresOptions): Promise<OpenStore> {
  return openPostgres(options);
}
