import { Command } from "commander";

import { resolveSession } from "../../../store/records/sessions/read.ts";
import type { ReadOnlyStore, Store } from "../../../store/store.ts";
import type { CopyProgress, CopyReport } from "../../../store/portable/copy-store.ts";
import { databaseLocation, resolveLocation } from "../../process/config.ts";
import { type CliContext, noticeLine, printJson, printLine } from "../../process/context.ts";
import { openPair, type CopyLocations } from "./copy-pair.ts";
import type { Counts } from "../../../store/portable/copy-session.ts";
import { exactLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import { exitCodeOf } from "../../process/exit-code.ts";
import { backupOption, databaseOption, withoutBackup } from "../../process/database.ts";
import { progressLine } from "./progress-line.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

interface CopyOptions {
  readonly from?: string;
  readonly fromLanggraph?: string;
  readonly to: string;
  readonly session?: string;
  readonly intoExisting?: true;
  readonly json?: true;
}

/** `copy --to <database>`: all of one database into another, of either engine. */
export function copyCommand(cli: CliContext): Command {
  const command = new Command("copy")
    .description(
      "copy all sessions and threads to another database, such as from a file to PostgreSQL",
    )
    .option(
      "--from <location>",
      "the database to read (default: REPRISE_DATABASE, else your own file)",
    )
    .option(
      "--from-langgraph <location>",
      "read the threads of LangGraph's SqliteSaver (its file) or PostgresSaver (its address) instead",
    )
    .requiredOption(
      "--to <location>",
      "the database to write: a file, which may be new, or a postgres:// address",
    )
    .option("--session <id>", "copy only this session with its sub-agents, beside what is there")
    .option("--into-existing", "allow a target that has other sessions or threads; they are kept")
    .option("--json", "print a JSON object: what was copied and what was not")
    .action(async (options: CopyOptions) => {
      if (options.fromLanggraph !== undefined) {
        if (options.session !== undefined) {
          throw wrongUsage("--from-langgraph copies threads, not sessions; leave --session out.");
        }
        const { copyThreads } = await import("./copy-threads.ts");
        return copyThreads(cli, command, { ...options, from: options.fromLanggraph });
      }
      await using pair = await openPair(cli, locationsOf(cli, command, options));
      const report = await copyAll(cli, {
        ...pair,
        session: options.session,
        intoExisting: options.intoExisting === true,
      });
      cli.exitCode = exitCode(report);
      if (options.json === true) {
        const { refused, changed, refused_threads, changed_threads } = report;
        const ok = [refused, changed, refused_threads, changed_threads].every(isEmpty);
        const locations = { from: pair.source.location, to: pair.target.location };
        printJson(cli, { ok, ...locations, ...report });
      } else {
        showReport(cli, report);
      }
    });
  return withoutBackup(command);
}

function locationsOf(cli: CliContext, command: Command, options: CopyOptions): CopyLocations {
  const database = databaseOption(command);
  if (options.from !== undefined && database !== undefined) {
    throw wrongUsage("--database and --from both name the database to read; give one of them.");
  }
  if (options.from?.trim() === "" || options.to.trim() === "") {
    throw wrongUsage("--from and --to each need a file or a postgres:// address.");
  }
  return {
    from: databaseLocation(cli, options.from ?? database),
    to: resolveLocation(cli, options.to),
    backup: backupOption(command),
  };
}

async function copyAll(
  cli: CliContext,
  input: {
    readonly source: ReadOnlyStore;
    readonly target: Store;
    /** A reference to the only session to copy; all if it is not given. */
    readonly session: string | undefined;
    readonly intoExisting: boolean;
  },
): Promise<CopyReport> {
  const { copyOneTree, copyStore } = await import("../../../store/portable/copy-store.ts");
  if (input.session !== undefined) {
    return copyOneTree(input, await topOfTree(input.source, input.session));
  }
  let done = 0;
  const show = progressLines(cli);
  const onProgress = (progress: CopyProgress): void => {
    done = progress.done.sessions + progress.done.threads;
    show(progress);
  };
  try {
    return await copyStore({ ...input, onProgress });
  } catch (error) {
    if (done > 0) {
      noticeLine(cli, "The copy was interrupted. Run the same command again to continue it.");
    }
    throw error;
  }
}

/** Error codes: `session_not_found`, `ambiguous_id`, `invalid_usage` for a sub-agent. */
async function topOfTree(source: ReadOnlyStore, reference: string): Promise<string> {
  const { id, parent_session_id } = await source.read(resolveSession, { reference });
  if (parent_session_id !== null) {
    throw wrongUsage(
      `This session is a sub-agent and is copied with its parent; give --session ${parent_session_id}.`,
    );
  }
  return id;
}

/** A running exchange ends by itself, so another problem weighs more. */
function exitCode({ refused, changed, refused_threads, changed_threads }: CopyReport): number {
  const codes = [...refused, ...refused_threads].map(({ code }) => exitCodeOf(code));
  const isSame = isEmpty(changed) && isEmpty(changed_threads);
  return isSame ? (codes.toSorted((a, b) => a - b)[0] ?? 0) : 1;
}

function isEmpty({ length }: readonly unknown[]): boolean {
  return length === 0;
}

/** Sessions and threads that a person is shown of each kind; `--json` names all. */
const MAX_SHOWN = 20;

/** The result on standard output; what was not copied, and why, on standard error. */
function showReport(cli: CliContext, report: CopyReport): void {
  const { copied, present } = report;
  printLine(cli, `Copied: ${countsText(copied)}`);
  if (present.sessions + present.threads > 0) {
    printLine(cli, `Skipped (identical): ${countsText(present)}`);
  }
  const refused = [
    ...report.refused.map(({ session_id, ...why }) => ({ name: session_id, ...why })),
    ...report.refused_threads.map(({ thread_id, ...why }) => ({ name: thread_id, ...why })),
  ];
  showSome(cli, refused, ({ name, code, detail }) => {
    return `Not copied: ${exactLine(name)}  ${detail} [${code}]`;
  });
  const changed = [...report.changed, ...report.changed_threads];
  showSome(cli, changed, (name) => `Changed or begun while it was copied: ${exactLine(name)}`);
  if (changed.length > 0) {
    noticeLine(
      cli,
      "The target has an older state of these, or none. Stop the programs that write to the source, delete these in the target (reprise sessions delete <id>, reprise threads delete <id>) and copy again.",
    );
  }
}

function showSome<T>(cli: CliContext, items: readonly T[], lineOf: (item: T) => string): void {
  for (const item of items.slice(0, MAX_SHOWN)) {
    noticeLine(cli, lineOf(item));
  }
  if (items.length > MAX_SHOWN) {
    noticeLine(cli, `… and ${items.length - MAX_SHOWN} more; --json names all.`);
  }
}

function countsText({ sessions, messages, threads, checkpoints }: Counts): string {
  return [
    plural(sessions, "session"),
    plural(messages, "message"),
    plural(threads, "thread"),
    plural(checkpoints, "checkpoint"),
  ].join(", ");
}

/** Shows the progress to a person at a terminal. */
function progressLines(cli: CliContext): (progress: CopyProgress) => void {
  const show = progressLine(cli);
  return ({ all, done }) =>
    show(() => {
      const whole = Math.max(all.messages + all.threads, 1);
      const percent = Math.floor((100 * (done.messages + done.threads)) / whole);
      const sessions = `${done.sessions} of ${plural(all.sessions, "session")}`;
      const messages = `${done.messages} of ${plural(all.messages, "message")}`;
      const threads = `${done.threads} of ${plural(all.threads, "thread")}`;
      return `${sessions}, ${messages}, ${threads} (${percent} %)`;
    });
}
