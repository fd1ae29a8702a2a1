import { Command } from "commander";

import { RepriseError } from "../../../core/errors.ts";
import { exactLine, titleLine } from "../../../core/text/terminal-text.ts";
import { plural } from "../../../core/text/text.ts";
import type { DeletionPreview } from "../../../store/records/sessions/delete-tree.ts";
import type { ManyDeletions } from "../../../store/portable/sync/many-deletions.ts";
import type { Effect } from "../../../store/portable/sync/sync-session.ts";
import type { SyncedSession } from "../../../store/portable/sync/sync-stores.ts";
import { databaseLocation, resolveLocation } from "../../process/config.ts";
import { type CliContext, noticeLine, printJson, printLine } from "../../process/context.ts";
import { backupOption, databaseOption, withStore } from "../../process/database.ts";
import { exitCodeOf } from "../../process/exit-code.ts";
import { progressLine } from "./progress-line.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";
import { confirmDeletion } from "../confirm-deletion.ts";
import { forgetKept } from "../forget-kept.ts";
import { openSyncPair, type SyncPair } from "./sync-pair.ts";

interface SyncOptions {
  readonly with: string;
  readonly dryRun?: true;
  readonly allowDeletions?: true;
  readonly json?: true;
}

/** `sync --with <database>`: the same sessions here and in another database, of either engine. */
export function syncCommand(cli: CliContext): Command {
  const command = new Command("sync")
    .description("bring this database and another one to the same sessions, in both directions")
    .requiredOption(
      "--with <location>",
      "the other database: a file, such as on a disk that you carry, or a postgres:// address",
    )
    .option("--dry-run", "say what would be done, and change nothing")
    .option("--allow-deletions", "do not ask before many sessions are deleted")
    .option("--json", "print a JSON object: what was done with each session, and what was not")
    .action(async (options: SyncOptions) => {
      if (options.with.trim() === "") {
        throw wrongUsage("--with needs a file or a postgres:// address.");
      }
      await using pair = await openSyncPair(cli, {
        here: databaseLocation(cli, databaseOption(command)),
        there: resolveLocation(cli, options.with),
        backup: backupOption(command),
        isDry: options.dryRun === true,
      });
      if (!(await mayDelete(cli, pair, options))) {
        return;
      }
      const sessions = await syncAll(cli, pair);
      const skipped = sessions.flatMap(({ code }) => (code === null ? [] : [exitCodeOf(code)]));
      cli.exitCode = skipped.toSorted((a, b) => a - b)[0] ?? 0;
      show(cli, { pair, options, sessions });
    });
  return withStore(command);
}

/** Asks before a run deletes many sessions: the other database may be the wrong one, or was emptied. */
async function mayDelete(
  cli: CliContext,
  pair: SyncPair,
  { allowDeletions, dryRun }: SyncOptions,
): Promise<boolean> {
  const { findManyDeletions } = await import("../../../store/portable/sync/many-deletions.ts");
  const found = allowDeletions === true ? [] : await findManyDeletions(pair);
  const lines = found.map(deletionsText);
  if (lines.length === 0) {
    return true;
  }
  const what = lines.join(" and ");
  if (dryRun === true) {
    noticeLine(cli, `A run asks before it deletes ${what}.`);
    return true;
  }
  if (cli.stdin.isTTY !== true) {
    throw new RepriseError(
      "not_confirmed",
      `Nothing was changed: a run would delete ${what}. Check that these are the right databases, then use --allow-deletions.`,
    );
  }
  const indented = lines.map((line) => `  ${line}`);
  return confirmDeletion(cli, indented, "Are these the right databases?");
}

function deletionsText({ in: name, deleted, sessions }: ManyDeletions): string {
  const other = name === "here" ? "there" : "here";
  return `${deleted} of ${plural(sessions, "session")} ${name}, which were deleted ${other}`;
}

async function syncAll(cli: CliContext, pair: SyncPair): Promise<readonly SyncedSession[]> {
  const { syncStores } = await import("../../../store/portable/sync/sync-stores.ts");
  const progress = progressLine(cli);
  const sessions: SyncedSession[] = [];
  const deleted: DeletionPreview[] = [];
  const onDeleted = (each: readonly DeletionPreview[]): void => void deleted.push(...each);
  try {
    await syncStores({
      here: { ...pair.here, name: "this database", onDeleted },
      there: { ...pair.there, name: "the other database", onDeleted },
      now: new Date().toISOString(),
      onSession: (session) => {
        sessions.push(session);
        progress(() => `${plural(sessions.length, "session")} compared`);
      },
    });
  } catch (error) {
    if (sessions.some(isChanged)) {
      noticeLine(cli, "The sync was interrupted. Run the same command again to continue it.");
    }
    throw error;
  } finally {
    if (deleted.length > 0) {
      await forgetKept(cli, deleted);
    }
  }
  return sessions;
}

function isChanged({ here, there }: SyncedSession): boolean {
  return here !== "none" || there !== "none";
}

interface Shown {
  readonly pair: SyncPair;
  readonly options: SyncOptions;
  readonly sessions: readonly SyncedSession[];
}

function show(cli: CliContext, { pair, options, sessions }: Shown): void {
  const changed = sessions.filter(isChanged);
  const skipped = sessions.filter(({ code }) => code !== null);
  const same = sessions.length - changed.length - skipped.length;
  const dry_run = options.dryRun === true;
  if (options.json === true) {
    const locations = { here: pair.here.location, there: pair.there.location };
    const ok = skipped.length === 0;
    printJson(cli, { ok, dry_run, ...locations, same, sessions: [...changed, ...skipped] });
    return;
  }
  if (dry_run) {
    printLine(cli, "Nothing was changed. A run would do this:");
  }
  showSome(changed, (each) => printLine(cli, changedLine(each)), cli);
  printLine(cli, `Here: ${countsText(changed, "here")}`);
  printLine(cli, `There: ${countsText(changed, "there")}`);
  printLine(cli, `Same in both: ${plural(same, "session")}`);
  showSome(skipped, (each) => noticeLine(cli, skippedLine(each)), cli);
}

/** Sessions of each kind that a person is shown; `--json` names all. */
const MAX_SHOWN = 20;

function showSome<T>(items: readonly T[], showOne: (item: T) => void, cli: CliContext): void {
  for (const item of items.slice(0, MAX_SHOWN)) {
    showOne(item);
  }
  if (items.length > MAX_SHOWN) {
    noticeLine(cli, `… and ${items.length - MAX_SHOWN} more; --json names all.`);
  }
}

function changedLine({
  session_id,
  here,
  there,
  fork,
  deleted_fork,
  title,
}: SyncedSession): string {
  const effects = [
    ...(here === "none" ? [] : [`${here} here`]),
    ...(there === "none" ? [] : [`${there} there`]),
    ...(fork === null ? [] : [`the other history is the fork ${fork}`]),
    ...(deleted_fork === null
      ? []
      : [`the other history is gone: it was deleted as the fork ${deleted_fork}`]),
  ].join(", ");
  return `${exactLine(session_id)}  ${effects}  ${titleLine({ title, name: null })}`;
}

function skippedLine({ session_id, code, detail }: SyncedSession): string {
  return `Not synced: ${exactLine(session_id)}  ${exactLine(detail ?? "")} [${code ?? ""}]`;
}

function countsText(changed: readonly SyncedSession[], side: "here" | "there"): string {
  const count = (effect: Effect): number => changed.filter((each) => each[side] === effect).length;
  const forks = changed.filter(({ fork }) => fork !== null).length;
  return [
    `${count("added")} added`,
    `${count("updated")} updated`,
    `${count("deleted")} deleted`,
    plural(forks, "fork"),
  ].join(", ");
}
