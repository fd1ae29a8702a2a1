import { Command } from "commander";

import { resolveSession } from "../../../store/records/sessions/read.ts";
import {
  deletedSession,
  deleteSessionTree,
  previewDeletion,
} from "../../../store/records/sessions/delete-tree.ts";
import { type CliContext, printJson, printLines } from "../../process/context.ts";
import { forgetDeleted } from "../../../store/search.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { confirmDeletion } from "../confirm-deletion.ts";
import { forgetKept } from "../forget-kept.ts";
import { deletionLines } from "./deletion-lines.ts";

/** `sessions delete <id>`: shows what goes, asks, and deletes it in one transaction. */
export function deleteCommand(cli: CliContext): Command {
  const command = new Command("delete")
    .description("delete a session with its messages, threads and sub-agents")
    .argument("<id>", "an id, or the first 6 or more characters of it")
    .option("--yes", "do not ask")
    .option("--json", "print a JSON array of what was deleted")
    .action(async (reference: string, options: { yes?: true; json?: true }) => {
      await using store = await openDatabase(cli, command);
      const { id } = await store.read(resolveSession, { reference });
      if (options.yes !== true) {
        const lines = deletionLines(await store.read(previewDeletion, { id }));
        if (!(await confirmDeletion(cli, lines, "Delete?"))) {
          return;
        }
      }
      const deleted = await store.write(deleteSessionTree, { id });
      await forgetKept(cli, deleted);
      await forgetDeleted(store);
      if (options.json === true) {
        printJson(cli, deleted.map(deletedSession));
      } else {
        printLines(cli, ["Deleted:", ...deletionLines(deleted)]);
      }
    });
  return withStore(command);
}
