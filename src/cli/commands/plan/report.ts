import { Command } from "commander";

import { markdownReport } from "../../../plans/markdown-report.ts";
import { readRunDetail } from "../../../plans/run-detail.ts";
import { type CliContext, printJson, printLines } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";

/** `plan report <run>`: what each phase did, for a pull request. */
export function reportCommand(cli: CliContext): Command {
  const command = new Command("report")
    .description("print what a run did, as Markdown for a pull request")
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
        printLines(cli, [markdownReport(run).trimEnd()]);
      }
    });
  return withStore(command);
}
