import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";

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

/** With `--no`, npm never takes a package of this name from a registry. */
const NPX = "npx --no -- reprise";

function startOf({ cwd, env, program }: CliContext): string {
  const script = resolve(program.script);
  const real = realPath(script);
  const path = pathOfShell(env);
  if (real === onPath(path, "reprise")) {
    return "reprise";
  }
  if (isUnderNpm(env) && real !== null && npxFinds(cwd).includes(real)) {
    return NPX;
  }
  const node = realPath(program.node) === onPath(path, "node") ? "node" : program.node;
  return `${quoted(node)} ${quoted(script)}`;
}

/** npm, npx and others like them put folders of packages on the path, which the user's shell does not have. */
function pathOfShell(env: CliContext["env"]): string[] {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return isUnderNpm(env)
    ? folders.filter((folder) => !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder))
    : folders;
}

function isUnderNpm(env: CliContext["env"]): boolean {
  return env["npm_config_user_agent"] !== undefined || env["npm_command"] !== undefined;
}

/** What npx would start in a folder without a registry: a package that is installed there, or the folder's own. */
function npxFinds(cwd: string): string[] {
  let folder = cwd;
  while (!["package.json", "node_modules"].some((name) => existsSync(join(folder, name)))) {
    const above = dirname(folder);
    if (above === folder) {
      return [];
    }
    folder = above;
  }
  return ["node_modules/.bin/reprise", "bin/reprise.js"].flatMap(
    (file) => realPath(join(folder, file)) ?? [],
  );
}

/** The real path of the program that a shell starts by this name, or null. */
function onPath(folders: readonly string[], name: string): string | null {
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
