import type { PostgresConnection } from "./connection.ts";
import { connectFailure, lostFailure, postgresFailure } from "./failure.ts";
import type { CheckedOutClient, PostgresPool } from "./pool.ts";

/**
 * The first work on a database. Nobody waits for a server while it is opened: what is wrong with
 * its address shows here.
 */
export async function bootstrap(
  pool: PostgresPool,
  work: (connection: PostgresConnection) => Promise<void>,
): Promise<void> {
  let lent: CheckedOutClient;
  try {
    lent = await pool.lend();
  } catch (error) {
    throw connectFailure(error);
  }
  try {
    await work(lent.connection);
  } catch (error) {
    throw lent.connection.loss === null ? postgresFailure(error) : lostFailure(error);
  } finally {
    lent.release();
  }
}
