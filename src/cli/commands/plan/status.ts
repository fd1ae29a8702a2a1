import { Command } from "commander";

import { readRunDetail } from "../../../plans/run-detail.ts";
import { readRun } from "../../../store/records/plans/read-runs.ts";
import { type CliContext, printJson, printLines } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { wholeRunLines } from "./run-lines.ts";

/** `plan status <run>`: each phase with its state, session, time, tokens and last action. */
export function statusCommand(cli: CliContext): Command {
  const command = new Command("status")
    .description("show the phases of a run: state, session, time, tokens and what was done last")
    .argument(
      "<run>",
      "id of its session, the first 6 or more characters of it, or the plan's runId",
    )
    .option("--watch", "follow it until it has ended or only a person can help")
    .option("--json", "print one JSON document, for programs")
    .action(async (reference: string, options: { watch?: true; json?: boolean }) => {
      const { json = false } = options;
      await using store = await openDatabase(cli, command);
      if (options.watch === true) {
        const { session_id } = await store.read(readRun, { reference });
        const { watchRun } = await import("./watch.ts");
        await watchRun(cli, store, { command, session_id, json });
        return;
      }
      const run = await store.read(readRunDetail, { reference });
      if (json) {
        printJson(cli, run, 2);
      } else {
        printLines(cli, wholeRunLines(cli, run));
      }
    });
  return withStore(command);
}
