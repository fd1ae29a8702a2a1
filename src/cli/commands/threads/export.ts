import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { Command } from "commander";

import { threadInconsistencyOf } from "../../../store/portable/consistency.ts";
import { threadExportText } from "../../../store/portable/export-text.ts";
import { readFreeThread } from "../../../store/portable/free-thread.ts";
import { type CliContext, noticeLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";

/** `threads export <id>`: all of a thread, on standard output. */
export function exportCommand(cli: CliContext): Command {
  const command = new Command("export")
    .description("write a thread that belongs to no session to standard output")
    .argument("<id>", "the id of the thread, whole")
    .action(async (thread_id: string) => {
      await using store = await openDatabase(cli, command);
      const thread = await store.read(readFreeThread, { thread_id });
      const text = threadExportText(thread, new Date().toISOString());
      // waits for a slow reader instead of keeping it all in memory twice
      await pipeline(Readable.from(text), cli.stdout.sink("json"));
      const problem = threadInconsistencyOf(thread);
      if (problem !== null) {
        const doubt = `${problem.pointer}: ${problem.message}`;
        noticeLine(cli, `This export cannot be imported, because it is inconsistent: ${doubt}`);
        cli.exitCode = 1;
      }
    });
  return withStore(command);
}
