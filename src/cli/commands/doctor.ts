import { Command } from "commander";

import { visible } from "../../core/text/terminal-text.ts";
import type { Check } from "../../store/check.ts";
import { aligned } from "../output/aligned.ts";
import { type CliContext, printJson, printLine, printLines } from "../process/context.ts";
import { databaseOption, withDatabase } from "../process/database.ts";
import {
  checkConfig,
  checkModels,
  checkPersonas,
  checkServers,
  checkSettings,
  checkSkills,
} from "./doctor/config.ts";
import { checkToken } from "./doctor/token.ts";
import { checkUndo } from "./doctor/undo.ts";
import { checkStored, refuseEarlier } from "./doctor/database.ts";
import { checkSandbox } from "./doctor/sandbox.ts";
import { checkVisible } from "./doctor/visible.ts";
import { plural } from "../../core/text/text.ts";

interface DoctorOptions {
  readonly quick?: true;
  readonly online?: true;
  readonly json?: true;
}

/**
 * `doctor`: checks the database, the configuration, the personas and the models, and reports what
 * to do about each problem. Changes nothing and spends nothing. Exit code 1 if something failed;
 * warnings do not count.
 */
export function doctorCommand(cli: CliContext): Command {
  const command = new Command("doctor")
    .description("check the database, the configuration, the personas and the models")
    .option("--quick", "skip the comparison of indexes, which takes long in a large database")
    .option("--online", "send each provider a request that costs nothing")
    .option("--json", "print one JSON document")
    .action(async (options: DoctorOptions) => {
      const checks = [
        ...checkConfig(cli, databaseOption(command)),
        ...(await checkSettings(cli)),
        ...(await checkServers(cli)),
        ...(await checkToken(cli)),
        ...(await checkStored(cli, command, options.quick === true)),
        ...(await checkUndo(cli)),
        ...(await checkPersonas(cli)),
        ...(await checkSkills(cli)),
        await checkSandbox(),
        ...(await checkVisible(cli)),
        ...(await checkModels(cli, options.online === true)),
      ];
      const ok = checks.every(({ status }) => status !== "failed");
      cli.exitCode = ok ? 0 : 1;
      if (options.json === true) {
        printJson(cli, { ok, checks });
      } else {
        printChecks(cli, checks);
        await refuseEarlier(cli, command);
      }
    });
  return withDatabase(command);
}

function printChecks(cli: CliContext, checks: readonly Check[]): void {
  const rows = checks.map(({ name, status, sentence }) => [status.padEnd(7), name, sentence]);
  printLines(cli, aligned(rows).map(visible));
  const failed = checks.filter(({ status }) => status === "failed").length;
  const warnings = checks.filter(({ status }) => status === "warning").length;
  printLine(
    cli,
    failed + warnings === 0
      ? `${plural(checks.length, "check")}: all is well`
      : `${plural(checks.length, "check")}: ${failed} failed, ${plural(warnings, "warning")}`,
  );
}
