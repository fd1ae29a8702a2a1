import { resolve } from "node:path";

import { Command } from "commander";

import { RepriseError } from "../../../core/errors.ts";
import { isPostgres } from "../../../store/location.ts";
import { databaseLocation } from "../../process/config.ts";
import { type CliContext, printJson, printLine } from "../../process/context.ts";
import { databaseOption, withDatabase } from "../../process/database.ts";
import { onSignals } from "../../process/signals.ts";
import { plural } from "../../../core/text/text.ts";

/** `backup <file>`: one file that holds everything, even while the database is in use. */
export function backupCommand(cli: CliContext): Command {
  const command = new Command("backup")
    .description("copy the whole database to a file, even while it is in use")
    .argument("<file>", "the file to create; reprise --database <file> opens it")
    .option("--force", "replace an existing file")
    .option("--json", "print a JSON object: path, bytes, sessions, threads")
    .action(async (file: string, options: { force?: true; json?: true }) => {
      const database = databaseLocation(cli, databaseOption(command));
      if (isPostgres(database)) {
        throw new RepriseError(
          "database_unsupported",
          "This command copies SQLite files only. Use pg_dump for PostgreSQL, or `reprise sessions export` for single sessions.",
        );
      }
      // not through the store: that would first upgrade an old database
      const { backupSqlite } = await import("../../../store/engines/sqlite/backup/backup.ts");
      const backup = await whileWaiting(cli, (signal) =>
        backupSqlite({
          database,
          target: resolve(cli.cwd, file),
          overwrite: options.force === true,
          signal,
        }),
      );
      if (options.json === true) {
        printJson(cli, backup);
      } else {
        const { path, sessions, threads, bytes } = backup;
        const free = threads === 0 ? "" : `${plural(threads, "thread")} without a session, `;
        printLine(cli, `Backed up: ${path}  ${plural(sessions, "session")}, ${free}${bytes} bytes`);
      }
    });
  return withDatabase(command);
}

/** A signal ends the program in the system's own way, after what was begun is removed. */
async function whileWaiting<Output>(
  cli: CliContext,
  work: (signal: AbortSignal) => Promise<Output>,
): Promise<Output> {
  const aborting = new AbortController();
  const stopListening = onSignals(cli, (signal) => {
    aborting.abort();
    stopListening();
    process.kill(cli.pid, signal);
  });
  try {
    return await work(aborting.signal);
  } finally {
    stopListening();
  }
}
