import { latestVersion } from "../../migrations/history.ts";
import { planUpgrade, type UpgradePlan } from "../../migrations/upgrade-plan.ts";
import { backupPath, spaceForBackup } from "./backup-before-upgrade.ts";
import { openConnection } from "../connection.ts";
import { requireDatabase } from "../../../database-path.ts";
import { openingFailure } from "../failure.ts";
import { readVersion } from "../migrate.ts";
import { refuseForeignWal } from "../foreign-wal.ts";

/**
 * Plans what opening this file as the store would do to it. Changes nothing.
 *
 * Error codes: `database_*`.
 */
export function planSqliteUpgrade(path: string, { backup }: { backup: boolean }): UpgradePlan {
  requireDatabase(path, ", so there is nothing to upgrade; name one with --database.");
  refuseForeignWal(path);
  try {
    const version = versionOf(path);
    const isOlder = version > 0 && version < latestVersion();
    return planUpgrade(
      version,
      backup && isOlder
        ? { path: backupPath({ database: path, version }), ...spaceForBackup(path) }
        : null,
    );
  } catch (error) {
    throw openingFailure(error);
  }
}

function versionOf(path: string): number {
  const connection = openConnection(path, 5000, { readOnly: true });
  try {
    return readVersion(connection);
  } finally {
    connection.close();
  }
}
