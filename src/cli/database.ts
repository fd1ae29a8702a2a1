import type { Command } from "commander";

import type { Store } from "../store/store.ts";
import { databaseLocation, isPostgres } from "./config.ts";
import { type CliContext, noticeLine } from "./context.ts";

/** Every command that uses the store takes this option. */
export function withDatabase(command: Command): Command {
  return command.option(
    "--database <file | postgres://...>",
    "the database (default: REPRISE_DATABASE, else the user's own file)",
  );
}

/** Every command that opens the store, and so upgrades an older database, takes this one too. */
export function withStore(command: Command): Command {
  return withoutBackup(withDatabase(command));
}

export function withoutBackup(command: Command): Command {
  return command.option(
    "--no-backup",
    "upgrade a SQLite file of an older version without a copy beside it",
  );
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

export interface OpenOptions {
  /** False to upgrade a file of an older version without a copy. */
  readonly backup: boolean;
  /** Called with what a person should know about the database; by default a line of standard error. */
  readonly notice?: (sentence: string) => void;
}

/**
 * Opens the store that a command is to use. The engine is loaded only here, so that commands
 * without a store start without it. Error codes: `database_*`, `config_invalid`.
 */
export async function openStore(
  cli: CliContext,
  command: Command,
  options: Omit<OpenOptions, "backup"> = {},
): Promise<Store> {
  const location = databaseLocation(cli, databaseOption(command));
  return openStoreAt(cli, location, { backup: backupOption(command), ...options });
}

/** The same for a location that is known. */
export async function openStoreAt(
  cli: CliContext,
  location: string,
  { backup, notice = (sentence) => noticeLine(cli, `note: ${sentence}`) }: OpenOptions,
): Promise<Store> {
  if (isPostgres(location)) {
    const { openPostgresStore } = await import("../store/engines/postgres/open.ts");
    return openPostgresStore({ url: location, notice });
  }
  const { openSqliteStore } = await import("../store/engines/sqlite/open.ts");
  return openSqliteStore({ path: location, backup, notice });
}
