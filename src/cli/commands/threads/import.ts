import { Command } from "commander";

import { MAX_THREAD_ID_BYTES } from "../../../core/limits.ts";
import { isThreadId } from "../../../core/threads.ts";
import { exactLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import { storeFreeThread } from "../../../store/portable/free-thread.ts";
import { type CliContext, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { readExport } from "../read-export.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** `threads import <file|->`: everything that an export holds, in one transaction. */
export function importCommand(cli: CliContext): Command {
  const command = new Command("import")
    .description("store a thread that `threads export` wrote")
    .argument("<file>", "the export; - reads it from standard input")
    .option("--as <id>", "store it under this id", idOf)
    .option("--json", "print a JSON object: the thread's id")
    .action(async (file: string, options: { as?: string; json?: true }) => {
      // loaded here: it compiles schemas, and the help of every command loads this file
      const { parseThreadExport } = await import("../../../store/portable/parse.ts");
      const read = parseThreadExport(await readExport(cli, file));
      const thread = { ...read, thread_id: options.as ?? read.thread_id };
      const { thread_id, checkpoints } = thread;
      await using store = await openDatabase(cli, command);
      await store.write(storeFreeThread, thread);
      if (options.json === true) {
        printJson(cli, { thread_id });
      } else {
        const count = plural(checkpoints.length, "checkpoint");
        printLine(cli, `Imported: ${exactLine(thread_id)}  ${count}`);
      }
    });
  return withStore(command);
}

function idOf(text: string): string {
  if (!isThreadId(text)) {
    throw wrongUsage(`--as takes an id of 1 to ${MAX_THREAD_ID_BYTES} bytes of UTF-8.`);
  }
  return text;
}
