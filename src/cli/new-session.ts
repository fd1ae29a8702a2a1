import { stat } from "node:fs/promises";
import { resolve } from "node:path";

import { RepriseError } from "../core/errors.ts";
import { projectKeyOf } from "../store/project-key.ts";
import type { ChatOptions } from "./chat-options.ts";
import { DEFAULT_PERSONA } from "./check-choice.ts";
import type { CliContext } from "./context.ts";

export interface Project {
  readonly repo_path: string;
  readonly project_key: string;
}

/** The folder of `--repo`, else the working directory. Error codes: `invalid_usage`. */
export async function projectOf(cli: CliContext, options: ChatOptions): Promise<Project> {
  const repo_path = resolve(cli.cwd, options.repo ?? ".");
  if (options.repo !== undefined && !(await isFolder(repo_path))) {
    throw new RepriseError("invalid_usage", "--repo names no folder; check its path.");
  }
  return { repo_path, project_key: await projectKeyOf(repo_path) };
}

/** The columns that a session begins with; its model is recorded with its first exchange. */
export async function newSession(cli: CliContext, options: ChatOptions) {
  return {
    ...(await projectOf(cli, options)),
    persona_name: options.persona ?? DEFAULT_PERSONA,
    ...(options.model === undefined ? {} : { model: options.model }),
    plan_mode: options.plan === true,
  };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
