import { realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

import type { Command } from "commander";

import { quoted } from "../core/shell-words.ts";
import { databaseLocation, withoutPassword } from "./config.ts";
import type { CliContext } from "./context.ts";
import { databaseOption } from "./database.ts";

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

/** The command that answers what the session asks. */
export function answerCommandLine(cli: CliContext, command: Command, id: string): string {
  return `${startOf(cli)} sessions answer ${id} ANSWER${databaseWords(cli, command)}`;
}

/** The `--database` that the command was given, for another command; empty if it was given none. */
export function databaseWords(cli: CliContext, command: Command): string {
  const database = databaseOption(command);
  return database === undefined
    ? ""
    : ` --database ${quoted(withoutPassword(databaseLocation(cli, database)))}`;
}

function startOf({ env, program }: CliContext): string {
  // npm's variables, because npx puts a temporary folder on the PATH
  if (env["npm_command"] === "exec" && env["npm_lifecycle_event"] === "npx") {
    return "npx reprise";
  }
  const script = resolve(program.script);
  if (realPath(script) === onPath(env, "reprise")) {
    return "reprise";
  }
  const node = realPath(program.node) === onPath(env, "node") ? "node" : program.node;
  return `${quoted(node)} ${quoted(script)}`;
}

/** The real path of the program that a shell starts by this name, or null. */
function onPath(env: CliContext["env"], name: string): string | null {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return (
    folders.map((folder) => realPath(join(folder, name))).find((path) => path !== null) ?? null
  );
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
