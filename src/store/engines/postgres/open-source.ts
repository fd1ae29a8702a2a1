import type { Operation, ReadOnlyStore } from "../../store.ts";
import { closeOnce } from "../closing.ts";
import { parseAddress } from "./address.ts";
import type { PostgresConnection } from "./connection.ts";
import { requireTables } from "./migrate.ts";
import type { PostgresOptions } from "./open.ts";
import { openPool } from "./open-pool.ts";
import { createTransactions } from "./transactions.ts";
import { sql } from "kysely";

export interface PostgresSource extends Pick<PostgresOptions, "url"> {
  /** Rejects for a database that is not what the caller wants to read; by default one without sessions. */
  readonly check?: (connection: PostgresConnection) => Promise<void>;
}

/**
 * Opens a PostgreSQL database to read it and nothing else: tables are not made and not brought to a
 * newer version.
 *
 * Error codes: `database_*`, `config_invalid`.
 */
export async function openPostgresSource({
  url,
  check = requireTables,
}: PostgresSource): Promise<ReadOnlyStore> {
  const address = parseAddress(url);
  const pool = await openPool(address, check);
  const transactions = createTransactions(pool, () => undefined);
  return {
    location: address.shown,
    read: transactions.read,
    ...closeOnce(async () => {
      await transactions.close();
      await pool.close();
    }),
  };
}

/**
 * Identifies the tables of one server, database and schema, by whatever address they are reached:
 * since when the server runs (to the microsecond) and the numbers of database and table.
 */
export const whichDatabase: Operation<null, string> = async (tx) => {
  const { rows } = await sql<{ name: string }>`
    SELECT extract(epoch FROM pg_postmaster_start_time())::text || ' '
      || (SELECT oid FROM pg_database WHERE datname = current_database())::text || ' '
      || 'sessions'::regclass::oid::text AS name`.execute(tx.db);
  return rows[0]?.name ?? "";
};
