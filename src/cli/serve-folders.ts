import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

import { namedFolders, type ServedFolders, trustedFolders } from "../exchange/served-folders.ts";
import { trustSource } from "./config.ts";
import type { CliContext } from "./context.ts";
import { refuseNoFolder } from "./refuse-no-folder.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** The folders of `--repos`, else those that the user trusts. Error codes: `invalid_usage`. */
export async function servedFolders(
  cli: CliContext,
  {
    jobs,
    repos,
    agent,
  }: { readonly jobs: number; readonly repos?: readonly string[]; readonly agent?: string },
): Promise<ServedFolders> {
  if (jobs === 0 && (repos !== undefined || agent !== undefined)) {
    throw wrongUsage(
      "A node with --jobs 0 runs no exchanges. Leave --jobs 0 out, or --repos and --agent.",
    );
  }
  if (repos === undefined) {
    return trustedFolders(trustSource(cli));
  }
  if (!repos.includes("none")) {
    return namedFolders(await Promise.all(repos.map((folder) => realFolderOf(cli, folder))));
  }
  if (repos.length > 1) {
    throw wrongUsage(
      "--repos takes none or folders, not both. A folder with the name none is ./none.",
    );
  }
  return namedFolders([]);
}

async function realFolderOf(cli: CliContext, named: string): Promise<string> {
  const folder = resolve(cli.cwd, named);
  await refuseNoFolder(folder, "A folder of --repos");
  return realpath(folder);
}
