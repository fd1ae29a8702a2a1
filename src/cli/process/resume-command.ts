import { resolve } from "node:path";

import type { Command } from "commander";

import { quoted } from "../../core/text/shell-words.ts";
import { isPostgres } from "../../store/location.ts";
import { withoutPassword } from "../../store/postgres-url.ts";
import { databaseLocation } from "./config.ts";
import type { CliContext } from "./context.ts";
import { databaseOption } from "./database.ts";
import { startOf } from "./started-as.ts";

/**
 * The command that resumes a session, for a shell: it starts the program in the same way and on the
 * same database. A password is left out, so that it is not shown: PGPASSWORD or the user's own
 * configuration has it.
 */
export function resumeCommand(cli: CliContext, command: Command, id: string): string {
  const { agent } = command.optsWithGlobals<{ agent?: string }>();
  const withAgent = agent === undefined ? "" : ` --agent ${quoted(resolve(cli.cwd, agent))}`;
  return `${startOf(cli)} --session ${id}${databaseWords(cli, command)}${withAgent}`;
}

/** The command that continues the run of a plan. */
export function resumeRunCommand(cli: CliContext, command: Command, id: string): string {
  return `${startOf(cli)} plan resume ${id}${databaseWords(cli, command)}`;
}

/** The command that tries the phases of a run again that failed or were refused. */
export function retryRunCommand(cli: CliContext, command: Command, id: string): string {
  return `${startOf(cli)} plan retry ${id}${databaseWords(cli, command)}`;
}

/** The command that runs a plan in a folder. */
export function runPlanCommand(
  cli: CliContext,
  command: Command,
  { folder, path }: { readonly folder: string; readonly path: string },
): string {
  const there = folder === cli.cwd ? "" : `cd ${quoted(folder)} && `;
  return `${there}${startOf(cli)} plan run ${quoted(path)}${databaseWords(cli, command)}`;
}

/** The command that answers what the session asks. */
export function answerCommandLine(cli: CliContext, command: Command, id: string): string {
  return `${startOf(cli)} sessions answer ${id} ANSWER${databaseWords(cli, command)}`;
}

/** The command that sends the session a message. */
export function sendCommandLine(cli: CliContext, command: Command, id: string): string {
  return `${startOf(cli)} send ${id} MESSAGE${databaseWords(cli, command)}`;
}

/** The `--database` that the command was given, for another command; empty if it was given none. */
export function databaseWords(cli: CliContext, command: Command): string {
  const database = databaseOption(command);
  if (database === undefined) {
    return "";
  }
  const location = databaseLocation(cli, database);
  return ` --database ${quoted(isPostgres(location) ? withoutPassword(location) : location)}`;
}
