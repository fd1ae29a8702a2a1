import { stat } from "node:fs/promises";
import { isAbsolute, resolve, sep } from "node:path";

import { RepriseError } from "../core/errors.ts";
import type { Caller } from "../core/origins.ts";
import { projectKeyOf, realPathOf } from "../store/project-key.ts";
import { type ChatOptions, chosenBy } from "./chat-options.ts";
import { DEFAULT_PERSONA } from "../exchange/personas/persona.ts";
import type { CliContext } from "./context.ts";

export interface Project {
  readonly repo_path: string;
  readonly project_key: string;
}

/** The folder of `--repo`, else the working directory. Error codes: `invalid_usage`. */
export async function projectOf(cli: CliContext, options: ChatOptions): Promise<Project> {
  const repo_path = options.repo === undefined ? cli.cwd : await folderNamed(cli.cwd, options.repo);
  return { repo_path, project_key: await projectKeyOf(repo_path) };
}

/**
 * The folder that the system finds under a name: `..` after a link is the parent of the folder that
 * the link points to. Only then the name loses its links.
 */
async function folderNamed(cwd: string, name: string): Promise<string> {
  // not joined, which would resolve `..` by name
  const named = isAbsolute(name) ? name : `${cwd}${sep}${name}`;
  if (!(await isFolder(named))) {
    throw new RepriseError("invalid_usage", "--repo names no folder; check its path.");
  }
  const real = await realPathOf(named);
  const byName = resolve(named);
  return (await realPathOf(byName)) === real ? byName : real;
}

/** The columns that a session begins with; its model is recorded with its first exchange. */
export async function newSession(cli: CliContext, options: ChatOptions) {
  return {
    ...(await projectOf(cli, options)),
    persona_name: options.persona ?? DEFAULT_PERSONA,
    ...(options.model === undefined ? {} : { model: options.model }),
    plan_mode: options.plan === true,
    caller: callerOf(cli, options),
  };
}

/** Who runs this program has its database, so the caller counts as authenticated. */
export function callerOf(cli: CliContext, options: ChatOptions): Caller {
  return { origin: chosenBy(cli, options), authenticated: true };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
