import type { PostgresAddress } from "./address.ts";
import type { PostgresConnection } from "./connection.ts";
import { connectFailure, lostFailure, postgresFailure } from "./failure.ts";
import { type CheckedOutClient, createPool, type PostgresPool } from "./pool.ts";

/**
 * Opens a pool and runs the first work on its database. Nobody waits for a server meanwhile: what is
 * wrong with its address shows here. Error codes: `database_*`, `config_invalid`.
 */
export async function openPool(
  address: PostgresAddress,
  work: (connection: PostgresConnection) => Promise<void>,
): Promise<PostgresPool> {
  const pool = createPool(address);
  try {
    await bootstrap(pool, work);
    return pool;
  } catch (error) {
    await pool.close();
    throw error;
  }
}

async function bootstrap(
  pool: PostgresPool,
  work: (connection: PostgresConnection) => Promise<void>,
): Promise<void> {
  let client: CheckedOutClient;
  try {
    client = await pool.checkOut();
  } catch (error) {
    throw connectFailure(error);
  }
  try {
    await work(client.connection);
  } catch (error) {
    throw client.connection.loss === null ? postgresFailure(error) : lostFailure(error);
  } finally {
    client.release();
  }
}
