import { Command, Option } from "commander";

import { MAX_LIST_LIMIT, MAX_NAME_LENGTH } from "../../../core/limits.ts";
import type { SessionSummary } from "../../../core/schemas/schemas.ts";
import { type Session, SESSION_STATES, type SessionState } from "../../../core/sessions.ts";
import { isStorableText } from "../../../core/text/text.ts";
import { projectKeyOf } from "../../../store/project-key.ts";
import {
  type ListInput,
  type ListPosition,
  listSessions,
  listSummaries,
} from "../../../store/records/sessions/list.ts";
import type { ListFilters } from "../../../store/records/sessions/list-filters.ts";
import { countSubagents } from "../../../store/records/sessions/trees/subagents.ts";
import type { Store } from "../../../store/store.ts";
import { type CliContext, noticeLine, printJson, printLines } from "../../process/context.ts";
import { since } from "../../output/ages.ts";
import { openDatabase, withStore } from "../../process/database.ts";
import type { RawTerminal } from "../../process/raw-terminal.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { limitOf } from "../limit-option.ts";
import { sessionTable } from "../../output/table.ts";

interface ListOptions {
  readonly limit: number;
  readonly state?: SessionState;
  readonly here?: true;
  readonly since?: Date;
  readonly title?: string;
  readonly archived?: true;
  readonly pinned?: true;
  readonly all?: true;
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
    .option("--here", "only sessions of the working folder")
    .option("--since <time>", "only sessions used since then: 36h, 7d, 2w or a day", since)
    .option("--title <text>", "only sessions whose name or title begins with it")
    .option("--archived", "only archived sessions")
    .option("--pinned", "only pinned sessions")
    .option("--all", "in a terminal, also archived sessions, and sub-agents below their sessions")
    .option("--json", "print a JSON array of session summaries")
    .action(async (options: ListOptions) => {
      const filters = await filtersOf(cli, options);
      await using store = await openDatabase(cli, command);
      if (options.json === true) {
        const summaries = async (input: ListInput) => {
          const { json, next } = await store.read(listSummaries, input);
          return { sessions: JSON.parse(json) as SessionSummary[], next };
        };
        printJson(cli, (await readAll(summaries, options.limit, filters)).sessions);
        return;
      }
      const read = (input: ListInput) => store.read(listSessions, input);
      const { sessions, more } = await readAll(read, options.limit, filters);
      if (sessions.length === 0) {
        noticeLine(cli, none(options, filters));
        return;
      }
      const roots = filters.roots === true ? sessions.map(({ id }) => id) : [];
      const subagents = await store.read(countSubagents, { roots });
      const terminal = cli.stdout.terminal();
      if (terminal !== null) {
        await printTable({ cli, store, terminal }, { sessions, subagents });
      } else {
        printLines(cli, await sessionTable(store, { sessions, subagents }, cli.env["HOME"]));
      }
      if (more) {
        noticeLine(cli, "There are more; --limit all shows every one.");
      }
    });
  return withStore(command);
}

async function printTable(
  { cli, store, terminal }: { cli: CliContext; store: Store; terminal: RawTerminal },
  listed: { sessions: readonly Session[]; subagents: ReadonlyMap<string, number> },
): Promise<void> {
  const [{ sessionTableRows }, { themeOf }] = await Promise.all([
    import("../../terminal/picker/session-table.ts"),
    import("../../terminal/text/theme-of.ts"),
  ]);
  const rows = await sessionTableRows(store, listed, {
    width: terminal.size().columns,
    theme: await themeOf(cli),
    here: await projectKeyOf(cli.cwd),
    home: cli.env["HOME"],
    now: Date.now(),
  });
  cli.stdout.printRows(rows);
}

/** A person in a terminal sees conversations; a program gets every session. */
async function filtersOf(cli: CliContext, options: ListOptions): Promise<ListFilters> {
  const { state, title, since: moment, archived, pinned } = options;
  const isShort = cli.stdout.isTTY && options.json === undefined && options.all === undefined;
  return {
    ...(state === undefined ? {} : { state }),
    ...(title === undefined ? {} : { title: textOf(title) }),
    ...(moment === undefined ? {} : { since: moment.toISOString() }),
    ...(options.here === true ? { project_key: await projectKeyOf(cli.cwd) } : {}),
    ...(archived === true || isShort ? { archived: archived === true } : {}),
    ...(pinned === true ? { pinned } : {}),
    // a sub-agent may be searched for
    ...(isShort && title === undefined ? { roots: true } : {}),
  };
}

function textOf(title: string): string {
  if (title === "" || title.length > MAX_NAME_LENGTH || !isStorableText(title)) {
    throw wrongUsage(`--title takes 1 to ${MAX_NAME_LENGTH} characters.`);
  }
  return title;
}

function none(
  { state, here, since: moment, title, archived, pinned }: ListOptions,
  filters: ListFilters,
): string {
  const which = state === undefined ? "sessions" : `${state} sessions`;
  if ([here, moment, title, archived, pinned].some((given) => given !== undefined)) {
    return `No ${which} found; leave out options to see others.`;
  }
  const all = filters.archived === false ? "; --all lists archived ones too" : "";
  return `No ${which} yet${all}; begin one with \`reprise\`.`;
}

/**
 * All sessions are read in the order of their creation, in which none can move past the page that is
 * being read, and sorted afterwards.
 */
async function readAll<Each extends Sorted>(
  read: (input: ListInput) => Promise<{
    readonly sessions: readonly Each[];
    readonly next: ListPosition | null;
  }>,
  limit: number,
  filters: ListFilters,
): Promise<{ sessions: Each[]; more: boolean }> {
  const sessions: Each[] = [];
  const every = limit === Number.POSITIVE_INFINITY;
  let after: ListPosition | undefined;
  do {
    const page = await read({
      limit: Math.min(limit - sessions.length, MAX_LIST_LIMIT),
      order: every ? "created" : "activity",
      ...filters,
      ...(after === undefined ? {} : { after }),
    });
    sessions.push(...page.sessions);
    after = page.next ?? undefined;
  } while (after !== undefined && sessions.length < limit);
  return { sessions: every ? sessions.sort(latestFirst) : sessions, more: after !== undefined };
}

type Sorted = Pick<Session, "id" | "created_at" | "last_message_at">;

/** By code units, as the database compares; times have one length. */
function latestFirst(a: Sorted, b: Sorted): number {
  return sortKey(a) < sortKey(b) ? 1 : -1;
}

function sortKey({ last_message_at, created_at, id }: Sorted): string {
  return `${last_message_at ?? created_at} ${id}`;
}
