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

/** The `--database` that was given to a command or to the program before it. */
export function databaseOption(command: Command): string | undefined {
  const { database } = command.optsWithGlobals<{ database?: string }>();
  return database;
}

/**
 * Opens the store that a command is to use. The engine is loaded only here, so that commands
 * without a store start without it. Error codes: `database_*`, `config_invalid`.
 */
export async function openStore(cli: CliContext, command: Command): Promise<Store> {
  return openStoreAt(cli, databaseLocation(cli, databaseOption(command)));
}

/** The same for a location that is known. */
export async function openStoreAt(cli: CliContext, location: string): Promise<Store> {
  if (isPostgres(location)) {
    const { openPostgresStore } = await import("../store/postgres/open.ts");
    return openPostgresStore({ url: location });
  }
  const { openSqliteStore } = await import("../store/sqlite/open.ts");
  return openSqliteStore({
    path: location,
    notice: (sentence) => noticeLine(cli, `note: ${sentence}`),
  });
}
