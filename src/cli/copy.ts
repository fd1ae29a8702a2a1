import { Command } from "commander";

import type { ReadOnlyStore, Store } from "../store/store.ts";
import type { CopyReport } from "../store/portable/copy-store.ts";
import { databaseLocation, resolveLocation } from "./config.ts";
import { type CliContext, noticeLine } from "./context.ts";
import { openPair, type CopyLocations } from "./copy/open-pair.ts";
import { progressLines, showReport } from "./copy/report.ts";
import { exitCodeOf } from "./exit-code.ts";
import { backupOption, databaseOption, withoutBackup } from "./database.ts";
import { wrongUsage } from "./wrong-usage.ts";

interface CopyOptions {
  readonly from?: string;
  readonly to: string;
  readonly intoExisting?: true;
  readonly json?: true;
}

/** `copy --to <database>`: every session of one database into another, of either engine. */
export function copyCommand(cli: CliContext): Command {
  const command = new Command("copy")
    .description("copy all sessions to another database, such as from a file to PostgreSQL")
    .option(
      "--from <file | postgres://...>",
      "the database to read (default: REPRISE_DATABASE, else the user's own file)",
    )
    .requiredOption("--to <file | postgres://...>", "the database to write; a new file is made")
    .option("--into-existing", "the target may have other sessions; they stay as they are")
    .option("--json", "print a JSON object: what was copied and what was not")
    .action(async (options: CopyOptions) => {
      await using pair = await openPair(cli, placesOf(cli, command, options));
      const report = await copyAll(cli, { ...pair, intoExisting: options.intoExisting === true });
      cli.exitCode = exitCode(report);
      showReport(cli, { report, ...pair, json: options.json === true });
    });
  return withoutBackup(command);
}

function placesOf(cli: CliContext, command: Command, options: CopyOptions): CopyLocations {
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
  input: { readonly source: ReadOnlyStore; readonly target: Store; readonly intoExisting: boolean },
): Promise<CopyReport> {
  const { copyStore } = await import("../store/portable/copy-store.ts");
  let done = 0;
  const show = progressLines(cli);
  try {
    return await copyStore({
      ...input,
      onProgress: (progress) => {
        done = progress.done.sessions;
        show(progress);
      },
    });
  } catch (error) {
    if (done > 0) {
      noticeLine(cli, "The copy was interrupted. Run the same command again to continue it.");
    }
    throw error;
  }
}

/** A running exchange ends by itself, so another problem weighs more. */
function exitCode({ refused, changed }: CopyReport): number {
  const codes = refused.map(({ code }) => exitCodeOf(code));
  const [first] = codes.toSorted((a, b) => a - b);
  return changed.length > 0 ? 1 : (first ?? 0);
}
