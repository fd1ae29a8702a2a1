import type { Command } from "commander";

import type { Store, StoreOptions } from "../../store/store.ts";
import { databaseLocation } from "./config.ts";
import { type CliContext, note } from "./context.ts";

/** Every command that uses the store takes this option. */
export function withDatabase(command: Command): Command {
  return command.option(
    "--database <location>",
    "the database: a file or a postgres:// address (default: REPRISE_DATABASE, else your own file)",
  );
}

/** Every command that opens the store, and so upgrades an older database, takes this one too. */
export function withStore(command: Command): Command {
  return withoutBackup(withDatabase(command));
}

export function withoutBackup(command: Command): Command {
  return command.option("--no-backup", "upgrade an older SQLite file without making a copy first");
}

/** True unless `--no-backup` was given to the command or to the program before it. */
export function backupOption(command: Command): boolean {
  const { backup } = command.opts<{ backup?: boolean }>();
  return backup !== false && (command.parent === null || backupOption(command.parent));
}

/** The `--database` that was given to a command or to the program before it. */
export function databaseOption(command: Command): string | undefined {
  const { database } = command.optsWithGlobals<{ database?: string }>();
  return database;
}

/** Opens the store that a command is to use. Error codes: `database_*`, `config_invalid`. */
export async function openDatabase(
  cli: CliContext,
  command: Command,
  options: Pick<StoreOptions, "notice"> = {},
): Promise<Store> {
  const location = databaseLocation(cli, databaseOption(command));
  return openStoreAt(cli, { location, backup: backupOption(command), ...options });
}

/** Opens the store at a location that is known; by default a notice is a line of standard error. */
export function openStoreAt(cli: CliContext, options: StoreOptions): Promise<Store> {
  return cli.openStore({ notice: (sentence) => note(cli, sentence), ...options });
}
