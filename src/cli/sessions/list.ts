import { Command, Option } from "commander";

import { MAX_LIST_LIMIT } from "../../core/limits.ts";
import { sessionSummary } from "../../core/answers.ts";
import { type Session, SESSION_STATES, type SessionState } from "../../core/sessions.ts";
import { type ListPosition, listSessions } from "../../store/sessions/list.ts";
import type { Store } from "../../store/store.ts";
import { type CliContext, noticeLine, printJson, printLines } from "../context.ts";
import { openDatabase, withStore } from "../database.ts";
import { limitOf } from "../limit-option.ts";
import { sessionTable } from "./table.ts";

interface ListOptions {
  readonly limit: number;
  readonly state?: SessionState;
  readonly json?: true;
}

/** `sessions list`: latest activity first, with a notice if there are more. */
export function listCommand(cli: CliContext): Command {
  const command = new Command("list")
    .description("list sessions, latest activity first")
    .option("--limit <n>", "the maximum number of sessions, or all", limitOf, 50)
    .addOption(
      new Option("--state <state>", "only sessions in this state").choices([...SESSION_STATES]),
    )
    .option("--json", "print a JSON array of session summaries")
    .action(async (options: ListOptions) => {
      await using store = await openDatabase(cli, command);
      const { sessions, more } = await readAll(store, options);
      if (options.json === true) {
        printJson(cli, sessions.map(sessionSummary));
        return;
      }
      if (sessions.length === 0) {
        const which = options.state === undefined ? "sessions" : `${options.state} sessions`;
        noticeLine(cli, `No ${which} yet; begin one with \`reprise\`.`);
        return;
      }
      printLines(cli, await sessionTable(store, sessions));
      if (more) {
        noticeLine(cli, "There are more; --limit all shows every one.");
      }
    });
  return withStore(command);
}

/**
 * All sessions are read in the order of their creation, in which none can move past the page that is
 * being read, and sorted afterwards.
 */
async function readAll(
  store: Store,
  { limit, state }: ListOptions,
): Promise<{ sessions: Session[]; more: boolean }> {
  const sessions: Session[] = [];
  const every = limit === Number.POSITIVE_INFINITY;
  let after: ListPosition | undefined;
  do {
    const page = await store.read(listSessions, {
      limit: Math.min(limit - sessions.length, MAX_LIST_LIMIT),
      order: every ? "created" : "activity",
      state,
      after,
    });
    sessions.push(...page.sessions);
    after = page.next ?? undefined;
  } while (after !== undefined && sessions.length < limit);
  return { sessions: every ? sessions.sort(latestFirst) : sessions, more: after !== undefined };
}

/** By code units, as the database compares; times have one length. */
function latestFirst(a: Session, b: Session): number {
  return sortKey(a) < sortKey(b) ? 1 : -1;
}

function sortKey({ last_message_at, created_at, id }: Session): string {
  return `${last_message_at ?? created_at} ${id}`;
}
