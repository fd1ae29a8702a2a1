import { Command } from "commander";

import { readRunDetail } from "../../../plans/run-detail.ts";
import { type CliContext, printJson, printLines } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { runLines } from "./run-lines.ts";

/** `plan status <run>`: each phase with its state, attempt and session. */
export function statusCommand(cli: CliContext): Command {
  const command = new Command("status")
    .description("show the phases of a run with their states")
    .argument(
      "<run>",
      "id of its session, the first 6 or more characters of it, or the plan's runId",
    )
    .option("--json", "print one JSON document, for programs")
    .action(async (reference: string, { json = false }: { json?: boolean }) => {
      await using store = await openDatabase(cli, command);
      const run = await store.read(readRunDetail, { reference });
      if (json) {
        printJson(cli, run, 2);
      } else {
        printLines(cli, runLines(run));
      }
    });
  return withStore(command);
}
