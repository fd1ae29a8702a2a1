import { planUpgrade, type UpgradePlan } from "../migrations/upgrade-plan.ts";
import { parseAddress } from "./address.ts";
import { readVersion } from "./migrate.ts";
import type { PostgresOptions } from "./open.ts";
import { openPool } from "./open-pool.ts";

/**
 * Plans what opening this database as the store would do to it. Changes nothing.
 *
 * Error codes: `database_*`, `config_invalid`.
 */
export async function planPostgresUpgrade({
  url,
}: Pick<PostgresOptions, "url">): Promise<UpgradePlan> {
  let version = 0;
  const pool = await openPool(parseAddress(url), async (connection) => {
    version = await readVersion(connection);
  });
  await pool.close();
  return planUpgrade(version, null);
}
