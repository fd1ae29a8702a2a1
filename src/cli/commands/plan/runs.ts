import { Command } from "commander";

import { MAX_LIST_LIMIT } from "../../../core/limits.ts";
import { runSummary } from "../../../plans/run-detail.ts";
import { listRuns } from "../../../store/records/plans/list-runs.ts";
import { type CliContext, printJson, printLines } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { summaryLine } from "./run-lines.ts";

/** `plan runs`: the runs of the database, the newest first. */
export function runsCommand(cli: CliContext): Command {
  const command = new Command("runs")
    .description(`list the latest ${MAX_LIST_LIMIT} runs of plans`)
    .option("--json", "print a JSON array, for programs")
    .action(async ({ json = false }: { json?: boolean }) => {
      await using store = await openDatabase(cli, command);
      const page = await store.read(listRuns, { limit: MAX_LIST_LIMIT });
      const runs = page.runs.map(runSummary);
      if (json) {
        printJson(cli, runs, 2);
      } else {
        printLines(cli, runs.map(summaryLine));
      }
    });
  return withStore(command);
}
