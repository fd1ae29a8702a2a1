import { planUpgrade, type UpgradePlan } from "../migrations/upgrade-plan.ts";
import { parseAddress } from "./address.ts";
import { readVersion } from "./migrate.ts";
import type { PostgresOptions } from "./open.ts";
import { createPool } from "./pool.ts";
import { bootstrap } from "./bootstrap.ts";

/**
 * What opening this database as the store would do to it. Changes nothing.
 *
 * Error codes: `database_*`, `config_invalid`.
 */
export async function planPostgresUpgrade({
  url,
}: Pick<PostgresOptions, "url">): Promise<UpgradePlan> {
  const pool = createPool(parseAddress(url));
  let version = 0;
  try {
    await bootstrap(pool, async (connection) => {
      version = await readVersion(connection);
    });
  } finally {
    await pool.close();
  }
  return planUpgrade(version, null);
}
