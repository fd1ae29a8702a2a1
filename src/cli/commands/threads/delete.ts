import { Command } from "commander";

import { exactLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import {
  deleteOldThreads,
  type OldThreadPage,
  type OldThreads,
  readOldThreads,
} from "../../../store/checkpoints/threads/delete-old-threads.ts";
import {
  type DamagedThread,
  readDeletable,
  type ThreadStats,
} from "../../../store/checkpoints/threads/thread-stats.ts";
import { deleteThread } from "../../../store/checkpoints/threads.ts";
import type { Store } from "../../../store/store.ts";
import { olderThan } from "../../output/ages.ts";
import { confirmDeletion } from "../confirm-deletion.ts";
import { type CliContext, noticeLine, printJson, printLines } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { deletionLines } from "./deletion-lines.ts";

interface DeleteOptions {
  readonly olderThan?: string;
  readonly interrupted?: true;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly json?: true;
}

/** `threads delete <id>` or `threads delete --older-than 90d`: whole threads, never of a session. */
export function deleteCommand(cli: CliContext): Command {
  const command = new Command("delete")
    .description("delete a thread that belongs to no session, or all that are old")
    .argument("[id]", "the id of the thread, whole")
    .option("--older-than <time>", "all without a checkpoint for so long, such as 36h, 90d or 12w")
    .option("--interrupted", "with --older-than: also threads that are interrupted")
    .option("--dry-run", "only show what would be deleted")
    .option("--yes", "do not ask")
    .option("--json", "print a JSON array of what was deleted")
    .action(async (id: string | undefined, options: DeleteOptions) => {
      const chosen = chosenBy(id, options);
      await using store = await openDatabase(cli, command);
      const { pages, damaged } = await findChosen(store, chosen);
      const found = pages.flat();
      for (const thread_id of damaged) {
        noticeLine(cli, `Not deleted: ${exactLine(thread_id)}  ${DAMAGED} [database_corrupt]`);
        cli.exitCode = 1;
      }
      if (found.length === 0 && damaged.length > 0 && options.json !== true) {
        return;
      }
      if (options.dryRun === true || found.length === 0) {
        show(cli, options, { verb: "Would delete", threads: found });
        return;
      }
      const question = `Delete ${plural(found.length, "thread")}?`;
      if (options.yes !== true && !(await confirmDeletion(cli, deletionLines(found), question))) {
        return;
      }
      const deleted = await Array.fromAsync(pages, (page) => deletePage(store, chosen, page));
      show(cli, options, { verb: "Deleted", threads: deleted.flat() });
    });
  return withStore(command);
}

type Chosen = { readonly thread_id: string } | OldThreads;

function chosenBy(thread_id: string | undefined, options: DeleteOptions): Chosen {
  const { olderThan: time, interrupted } = options;
  if (thread_id !== undefined && time === undefined && interrupted === undefined) {
    return { thread_id };
  }
  if (thread_id !== undefined || time === undefined) {
    throw wrongUsage(
      "Give a thread id, or --older-than (with --interrupted to include interrupted threads).",
    );
  }
  return { older_than_ms: olderThan(time), interrupted: interrupted === true };
}

type Listed = ThreadStats | DamagedThread;

interface Found {
  /** Each for one transaction. */
  readonly pages: readonly (readonly Listed[])[];
  /** Threads that are kept, because nobody can say whether they are interrupted. */
  readonly damaged: readonly string[];
}

const DAMAGED = "It is damaged. Restore a backup, or delete it by its id.";

async function findChosen(store: Store, chosen: Chosen): Promise<Found> {
  if ("thread_id" in chosen) {
    return { pages: [[await store.read(readDeletable, chosen)]], damaged: [] };
  }
  const pages: Listed[][] = [];
  const damaged: string[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page: OldThreadPage = await store.read(readOldThreads, { ...chosen, after });
    pages.push(
      await Array.fromAsync(page.thread_ids, (thread_id) =>
        store.read(readDeletable, { thread_id }),
      ),
    );
    damaged.push(...page.damaged);
    after = page.next;
  }
  return { pages, damaged };
}

/** Deletes no other threads than these; what was deleted. */
async function deletePage(
  store: Store,
  chosen: Chosen,
  page: readonly Listed[],
): Promise<readonly Listed[]> {
  if ("thread_id" in chosen) {
    await store.write(deleteThread, { ...chosen, fence: null });
    return page;
  }
  const thread_ids = page.map(({ thread_id }) => thread_id);
  const gone = new Set(await store.write(deleteOldThreads, { ...chosen, thread_ids }));
  return page.filter(({ thread_id }) => gone.has(thread_id));
}

function show(
  cli: CliContext,
  { json }: DeleteOptions,
  { verb, threads }: { readonly verb: string; readonly threads: readonly Listed[] },
): void {
  if (json === true) {
    printJson(cli, threads);
  } else if (threads.length === 0) {
    noticeLine(
      cli,
      "No thread without a session is that old. --interrupted includes interrupted ones.",
    );
  } else {
    printLines(cli, [`${verb} ${plural(threads.length, "thread")}:`, ...deletionLines(threads)]);
  }
}
