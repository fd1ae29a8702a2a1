import { Command } from "commander";

import { exactLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import {
  previewPrune,
  pruneFreeThread,
  type PruneReport,
} from "../../../store/checkpoints/threads/prune-free-thread.ts";
import { readFreeStats } from "../../../store/checkpoints/threads/thread-stats.ts";
import { confirmDeletion } from "../confirm-deletion.ts";
import { type CliContext, noticeLine, printJson, printLine } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { wholeNumber } from "../../process/wrong-usage.ts";

interface PruneOptions {
  readonly keep: number;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly json?: true;
}

/** `threads prune <id>`: deletes its earlier checkpoints, so that it can be continued only at its end. */
export function pruneCommand(cli: CliContext): Command {
  const command = new Command("prune")
    .description("delete the earlier checkpoints of a thread that belongs to no session")
    .argument("<id>", "the id of the thread, whole")
    .option(
      "--keep <n>",
      "how many of the latest checkpoints of each branch stay",
      wholeNumber("--keep", 1),
      1,
    )
    .option("--dry-run", "only show what would be deleted")
    .option("--yes", "do not ask")
    .option("--json", "print a JSON object: the thread's id, checkpoints, bytes")
    .action(async (thread_id: string, options: PruneOptions) => {
      const { keep } = options;
      await using store = await openDatabase(cli, command);
      await store.read(readFreeStats, { thread_id });
      const preview = await store.read(previewPrune, { thread_id, keep });
      if (options.dryRun === true || preview.checkpoints === 0) {
        show(cli, options, { verb: "Would delete", thread_id, ...preview });
        return;
      }
      const lines = [`  ${sizeText(preview)} of ${exactLine(thread_id)}`];
      if (options.yes !== true && !(await confirmDeletion(cli, lines, "Delete?"))) {
        return;
      }
      const { gone: _, ...report } = await store.write(pruneFreeThread, { thread_id, keep });
      show(cli, options, { verb: "Deleted", thread_id, ...report });
    });
  return withStore(command);
}

function show(
  cli: CliContext,
  { json }: PruneOptions,
  { verb, ...pruned }: PruneReport & { readonly verb: string; readonly thread_id: string },
): void {
  if (json === true) {
    printJson(cli, pruned);
  } else if (pruned.checkpoints === 0) {
    noticeLine(cli, "Nothing to prune: every checkpoint is kept.");
  } else {
    printLine(cli, `${verb}: ${sizeText(pruned)} of ${exactLine(pruned.thread_id)}`);
  }
}

function sizeText({ checkpoints, bytes }: PruneReport): string {
  return `${plural(checkpoints, "checkpoint")} with ${plural(bytes, "byte")}`;
}
