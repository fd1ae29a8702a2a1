import type { Command } from "commander";

import { exactLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import type { ThreadCopyReport, ThreadCounts } from "../../../store/portable/thread-copies.ts";
import type { Store } from "../../../store/store.ts";
import { resolveLocation } from "../../process/config.ts";
import { type CliContext, noticeLine, printJson, printLine } from "../../process/context.ts";
import { named, namedTarget, refuseSameFile } from "./copy-pair.ts";
import { backupOption, databaseOption, openStoreAt } from "../../process/database.ts";
import { progressLine } from "./progress-line.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

interface CopyThreads {
  readonly from: string;
  readonly to: string;
  readonly intoExisting?: true;
  readonly json?: true;
}

/** `copy --from-langgraph <location> --to <database>`: the threads of LangGraph's own savers. */
export async function copyThreads(
  cli: CliContext,
  command: Command,
  options: CopyThreads,
): Promise<void> {
  const { from, to } = locationsOf(cli, command, options);
  const show = progressLine(cli);
  let done = 0;
  // an error of the target passes through the source, whose thread is being read
  const errors = new WeakSet<Error>();
  const openTarget = async (): Promise<Store> => {
    await refuseSameFile({ from, to });
    const open = () => openStoreAt(cli, { location: to, backup: backupOption(command) });
    return namedTarget(await named("--to", open, errors), errors);
  };
  const copy = () =>
    cli.copyLangGraph({
      from,
      openTarget,
      intoExisting: options.intoExisting === true,
      onProgress: ({ threads, done: { threads: copied, checkpoints } }) => {
        done = checkpoints;
        show(
          () => `${copied} of ${plural(threads, "thread")}, ${plural(checkpoints, "checkpoint")}`,
        );
      },
    });
  const report = await named("--from-langgraph", copy, errors).catch((error: unknown) => {
    if (done > 0) {
      noticeLine(cli, "The copy was interrupted. Run the same command again to continue it.");
    }
    throw error;
  });
  const ok = report.refused.length + report.changed.length === 0;
  cli.exitCode = ok ? 0 : 1;
  if (options.json === true) {
    printJson(cli, { ok, ...report });
  } else {
    showReport(cli, report);
  }
}

function locationsOf(cli: CliContext, command: Command, { from, to }: CopyThreads) {
  const { from: other } = command.opts<{ from?: string }>();
  if (other !== undefined || databaseOption(command) !== undefined) {
    throw wrongUsage(
      "--from-langgraph names the database to read; leave --from and --database out.",
    );
  }
  if (from.trim() === "" || to.trim() === "") {
    throw wrongUsage("--from-langgraph and --to each need a file or a postgres:// address.");
  }
  return { from: resolveLocation(cli, from), to: resolveLocation(cli, to) };
}

/** Threads that a person is shown of each kind; `--json` names all. */
const MAX_SHOWN = 20;

/** The result on standard output; what was not copied, and why, on standard error. */
function showReport(cli: CliContext, report: ThreadCopyReport): void {
  const { copied, present, refused, changed } = report;
  printLine(cli, `Copied: ${countsText(copied)}`);
  if (present.threads > 0) {
    printLine(cli, `Skipped (identical): ${countsText(present)}`);
  }
  for (const { thread_id, code, detail } of refused.slice(0, MAX_SHOWN)) {
    noticeLine(cli, `Not copied: ${exactLine(thread_id)}  ${detail} [${code}]`);
  }
  for (const id of changed.slice(0, MAX_SHOWN)) {
    noticeLine(cli, `Changed or begun while it was copied: ${exactLine(id)}`);
  }
  const more = Math.max(0, refused.length - MAX_SHOWN) + Math.max(0, changed.length - MAX_SHOWN);
  if (more > 0) {
    noticeLine(cli, `… and ${plural(more, "more thread")}; --json names all.`);
  }
  if (changed.length > 0) {
    noticeLine(
      cli,
      "The target has an older state of these threads, or none. Stop the programs that write to the source and copy again: what is missing is added.",
    );
  }
}

function countsText({ threads, checkpoints }: ThreadCounts): string {
  return `${plural(threads, "thread")}, ${plural(checkpoints, "checkpoint")}`;
}
