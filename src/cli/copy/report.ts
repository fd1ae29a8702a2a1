import type { CopyProgress, CopyReport } from "../../store/portable/copy-store.ts";
import type { ReadOnlyStore, Store } from "../../store/store.ts";
import type { Counts } from "../../store/portable/copy-session.ts";
import { type CliContext, noticeLine, printJson, printLine } from "../context.ts";
import { plural } from "../plural.ts";

/** Sessions that a person is shown of each kind; `--json` names all. */
const SHOWN = 20;

/** The result on standard output; what was not copied, and why, on standard error. */
export function showReport(
  cli: CliContext,
  input: {
    readonly report: CopyReport;
    readonly source: ReadOnlyStore;
    readonly target: Store;
    readonly json: boolean;
  },
): void {
  const { report, source, target } = input;
  if (input.json) {
    const ok = report.refused.length + report.changed.length === 0;
    const places = { from: source.location, to: target.location };
    printJson(cli, { ok, ...places, ...report });
    return;
  }
  printLine(cli, `Copied: ${countsText(report.copied)}`);
  if (report.present.sessions > 0) {
    printLine(cli, `Skipped (identical): ${countsText(report.present)}`);
  }
  showLeftBehind(cli, report);
}

function showLeftBehind(cli: CliContext, { refused, changed, unowned_threads }: CopyReport): void {
  for (const { session_id, code, detail } of refused.slice(0, SHOWN)) {
    noticeLine(cli, `Not copied: ${session_id}  ${detail} [${code}]`);
  }
  for (const id of changed.slice(0, SHOWN)) {
    noticeLine(cli, `Changed or begun while it was copied: ${id}`);
  }
  const more = Math.max(0, refused.length - SHOWN) + Math.max(0, changed.length - SHOWN);
  if (more > 0) {
    noticeLine(cli, `… and ${plural(more, "more session")}; --json names all.`);
  }
  if (changed.length > 0) {
    noticeLine(
      cli,
      "The target has those as they were before, or not at all; stop what writes to the source, delete them in the target (reprise sessions delete <id>) and copy again.",
    );
  }
  if (unowned_threads > 0) {
    noticeLine(
      cli,
      `${plural(unowned_threads, "thread")} without a session were not copied: nothing can read them.`,
    );
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

/** Milliseconds between two lines. */
const PAUSE_MS = 2000;

/** Says now and then how far it is, to a person who waits at a terminal. */
export function progressLines(cli: CliContext): (progress: CopyProgress) => void {
  if (!cli.stderr.isTTY) {
    return () => undefined;
  }
  let last = performance.now();
  return ({ all, done }) => {
    if (performance.now() - last < PAUSE_MS) {
      return;
    }
    last = performance.now();
    const percent = Math.floor((100 * done.messages) / Math.max(all.messages, 1));
    noticeLine(
      cli,
      `${done.sessions} of ${plural(all.sessions, "session")}, ${done.messages} of ${plural(all.messages, "message")} (${percent} %)`,
    );
  };
}
