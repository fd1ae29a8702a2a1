import { isAbsolute, resolve, sep } from "node:path";

import { type Principal, localPrincipal } from "../../../core/principal.ts";
import { refuseNoFolder } from "../refuse-no-folder.ts";
import { projectOfFolder } from "../../../store/project-id.ts";
import { realPathOf } from "../../../store/project-key.ts";
import { type ChatOptions, chosenBy } from "./chat-options.ts";
import { DEFAULT_PERSONA } from "../../../rules/personas/persona.ts";
import { localUser } from "../../../store/records/leases/local-user.ts";
import { settingsOf } from "../../process/config.ts";
import { givenSettings } from "../../process/model-settings.ts";
import type { CliContext } from "../../process/context.ts";

/** The folder of `--repo`, else the working directory. Error codes: `invalid_usage`. */
export async function folderOf(cli: CliContext, options: ChatOptions): Promise<string> {
  const folder = folderOfPerson(cli, options);
  return options.repo === undefined ? folder : folderNamed(folder);
}

/** Returns that folder with its key and id, for which git may be asked. Error codes: `invalid_usage`. */
export async function projectOf(cli: CliContext, options: ChatOptions) {
  const repo_path = await folderOf(cli, options);
  return { repo_path, ...(await projectOfFolder(repo_path)) };
}

/** The folder of `--repo`, else the working folder, whatever folder the session names. */
export function folderOfPerson({ cwd }: CliContext, { repo }: ChatOptions): string {
  // not joined, which would resolve `..` after a link by name
  const isBelow = repo !== undefined && !isAbsolute(repo);
  return isBelow ? `${cwd}${sep}${repo}` : (repo ?? cwd);
}

/**
 * The folder that the system finds under a name: `..` after a link is the parent of the folder that
 * the link points to. Only then the name loses its links.
 */
async function folderNamed(named: string): Promise<string> {
  await refuseNoFolder(named, "The folder of --repo");
  const real = await realPathOf(named);
  const byName = resolve(named);
  return (await realPathOf(byName)) === real ? byName : real;
}

/** The columns that a session begins with; its model is recorded with its first exchange. */
export async function newSession(cli: CliContext, options: ChatOptions) {
  const project = await projectOf(cli, options);
  const { persona, permission, tokens, prices } = await settingsOf(cli).at(project.repo_path);
  // an agent of --agent has its own instructions and tools
  const mode = options.agent === undefined ? (options.permission ?? permission.mode) : null;
  const token_limits = { ...tokens, ...options.tokenLimit };
  const price_limits = { ...prices, ...options.priceLimit };
  return {
    ...project,
    persona_name:
      options.agent === undefined ? (options.persona ?? persona ?? DEFAULT_PERSONA) : null,
    model: options.model,
    ...givenSettings(options),
    plan_mode: options.plan === true,
    principal: principalOf(cli, options),
    ...(mode === null ? {} : { permission: mode }),
    ...(Object.keys(token_limits).length === 0 ? {} : { token_limits }),
    ...(Object.keys(price_limits).length === 0 ? {} : { price_limits }),
  };
}

/** Makes the principal of the person who runs this program. */
export function principalOf(cli: CliContext, options: ChatOptions): Principal {
  return localPrincipal(chosenBy(cli, options), localUser());
}
