import { Command } from "commander";

import { resolveSession } from "../../store/sessions/read.ts";
import { deleteSessionTree, previewDeletion } from "../../store/sessions/delete-tree.ts";
import { confirm } from "../confirm.ts";
import { type CliContext, noticeLine, printJson, printLine, printLines } from "../context.ts";
import { openStore, withStore } from "../database.ts";
import { deletionDocument, deletionLines } from "./deletion-lines.ts";

interface DeleteOptions {
  readonly yes?: true;
  readonly json?: true;
}

/** `sessions delete <id>`: says what goes, asks, and deletes it in one transaction. */
export function deleteCommand(cli: CliContext): Command {
  const command = new Command("delete")
    .description("delete a session with its messages, threads and sub-agents")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--yes", "do not ask")
    .option("--json", "print a JSON array of what was deleted")
    .action(async (reference: string, options: DeleteOptions) => {
      await using store = await openStore(cli, command);
      const { id } = await store.read(resolveSession, { reference });
      if (options.yes !== true) {
        noticeLine(cli, "This deletes for good:");
        for (const line of deletionLines(await store.read(previewDeletion, { id }))) {
          noticeLine(cli, line);
        }
        if (!(await confirm(cli, "Delete?"))) {
          noticeLine(cli, "Nothing was deleted.");
          cli.exitCode = 1;
          return;
        }
      }
      const deleted = await store.write(deleteSessionTree, { id });
      if (options.json === true) {
        printJson(cli, deleted.map(deletionDocument));
        return;
      }
      printLine(cli, "Deleted:");
      printLines(cli, deletionLines(deleted));
    });
  return withStore(command);
}
