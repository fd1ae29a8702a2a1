import type { Operation, ReadOnlyStore } from "../../store.ts";
import { parseAddress } from "./address.ts";
import { requireTables } from "./migrate.ts";
import type { PostgresOptions } from "./open.ts";
import { createPool } from "./pool.ts";
import { bootstrap } from "./bootstrap.ts";
import { createTransactions } from "./transactions.ts";
import { sql } from "kysely";

/**
 * Opens a PostgreSQL database to read it and nothing else: tables are not made and not brought to a
 * newer version.
 *
 * Error codes: `database_*`, `config_invalid`.
 */
export async function openPostgresSource({
  url,
}: Pick<PostgresOptions, "url">): Promise<ReadOnlyStore> {
  const address = parseAddress(url);
  const pool = createPool(address);
  try {
    await bootstrap(pool, requireTables);
  } catch (error) {
    await pool.close();
    throw error;
  }
  const transactions = createTransactions({ pool, onCommit: () => undefined });
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    await transactions.close();
    await pool.close();
  };
  return {
    location: address.shown,
    read: transactions.read,
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
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
