import { Command } from "commander";

import { mebibytes } from "../../../core/text/text.ts";
import type { UpgradePlan } from "../../../store/engines/migrations/upgrade-plan.ts";
import { isPostgres } from "../../../store/location.ts";
import { databaseLocation } from "../../process/config.ts";
import { type CliContext, printJson, printLines } from "../../process/context.ts";
import { backupOption, databaseOption, openDatabase, withStore } from "../../process/database.ts";

interface UpgradeOptions {
  readonly dryRun?: true;
  readonly json?: true;
}

/** `upgrade`: upgrades the database to this version, as every command does that opens it. */
export function upgradeCommand(cli: CliContext): Command {
  const command = new Command("upgrade")
    .description("upgrade an older database to this version, or show what that would change")
    .option("--dry-run", "change nothing; exit code 1 if the backup does not fit")
    .option("--json", "print a JSON object: from, to, steps, backup")
    .action((options: UpgradeOptions) => upgrade(cli, command, options));
  return withStore(command);
}

async function upgrade(cli: CliContext, command: Command, options: UpgradeOptions): Promise<void> {
  const location = databaseLocation(cli, databaseOption(command));
  const plan = await planAt(location, backupOption(command));
  const isDryRun = options.dryRun === true;
  if (!isDryRun) {
    await using _ = await openDatabase(cli, command);
  }
  if (options.json === true) {
    printJson(cli, plan);
  } else {
    printLines(cli, lines(plan, { isDryRun, isPostgres: isPostgres(location) }));
  }
  cli.exitCode = isDryRun && !fits(plan) ? 1 : 0;
}

async function planAt(location: string, backup: boolean): Promise<UpgradePlan> {
  if (isPostgres(location)) {
    const { planPostgresUpgrade } = await import("../../../store/engines/postgres/plan-upgrade.ts");
    return planPostgresUpgrade({ url: location });
  }
  const { planSqliteUpgrade } =
    await import("../../../store/engines/sqlite/backup/plan-upgrade.ts");
  return planSqliteUpgrade(location, { backup });
}

function fits({ backup }: UpgradePlan): boolean {
  return backup === null || backup.needed <= backup.free;
}

function lines(
  plan: UpgradePlan,
  { isDryRun, isPostgres }: { isDryRun: boolean; isPostgres: boolean },
): string[] {
  if (plan.steps.length === 0) {
    return [`The database already has schema version ${plan.to}; nothing to do.`];
  }
  const steps = plan.steps.join(", ");
  if (!isDryRun) {
    // opening the database has reported the versions and the copy
    return [`Applied ${steps}.`];
  }
  return [
    `Would upgrade the database from schema version ${plan.from} to ${plan.to}: ${steps}.`,
    backupLine(plan, isPostgres),
  ];
}

function backupLine(plan: UpgradePlan, isPostgres: boolean): string {
  if (isPostgres) {
    return 'No backup would be made on PostgreSQL: use pg_dump first; see docs/databases.md, "Upgrades".';
  }
  if (plan.backup === null) {
    return "No backup would be made.";
  }
  const { path, needed, free } = plan.backup;
  const space = `needs ${mebibytes(needed)} MiB, ${mebibytes(free)} MiB are free`;
  return fits(plan)
    ? `Would copy it to ${path} before (${space}).`
    : `A copy at ${path} would not fit (${space}), so the upgrade would be refused; free some space, or use --no-backup.`;
}
