import { Command } from "commander";

import { exactLine } from "../../../core/text/terminal-text.ts";
import { type ListedThread, listThreads } from "../../../store/checkpoints/threads/list-threads.ts";
import { age } from "../../output/ages.ts";
import { aligned } from "../../output/aligned.ts";
import { type CliContext, noticeLine, printJson, printLines } from "../../process/context.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import { limitOf } from "../limit-option.ts";

interface ListOptions {
  readonly limit: number;
  readonly sessions?: true;
  readonly json?: true;
}

/** `threads list`: the one whose latest checkpoint was stored last first. */
export function listCommand(cli: CliContext): Command {
  const command = new Command("list")
    .description("list threads that belong to no session, latest first")
    .option("--limit <n>", "the maximum number of threads, or all", limitOf, 50)
    .option("--sessions", "include the threads of sessions")
    .option("--json", "print a JSON array of threads")
    .action(async (options: ListOptions) => {
      await using store = await openDatabase(cli, command);
      const sessions = options.sessions === true;
      const limit = Math.min(options.limit, EVERY);
      const { threads, next } = await store.read(listThreads, { limit, sessions });
      if (options.json === true) {
        printJson(cli, threads);
        return;
      }
      if (threads.length === 0) {
        noticeLine(cli, NONE[sessions ? "all" : "free"]);
        return;
      }
      printLines(cli, threadTable(threads));
      if (next !== null) {
        noticeLine(cli, "There are more; --limit all shows every one.");
      }
    });
  return withStore(command);
}

/** More than any database has. */
const EVERY = 1_000_000_000;

const NONE = {
  free: "No thread without a session. --sessions includes the threads of sessions.",
  all: "No thread yet.",
} as const;

/** The id comes last, because it may be of any length. */
function threadTable(threads: readonly ListedThread[]): string[] {
  const now = Date.now();
  const rows = threads.map(({ thread_id, messages, last_checkpoint_at: at }) => {
    const ago = at === null ? Number.NaN : now - Date.parse(at);
    return [Number.isNaN(ago) ? "-" : age(ago), String(messages), exactLine(thread_id)];
  });
  return aligned([["ACTIVE", "MESSAGES", "THREAD"], ...rows]);
}
