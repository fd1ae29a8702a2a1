import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

import type { DefaultAnswer } from "../../../core/questions.ts";
import {
  namedFolders,
  type ServedFolders,
  trustedFolders,
} from "../../../exchange/served-folders.ts";
import { trustSource } from "../../process/config.ts";
import type { CliContext } from "../../process/context.ts";
import { refuseNoFolder } from "../refuse-no-folder.ts";
import { wrongUsage } from "../../process/wrong-usage.ts";

/** The options of a node that runs exchanges. */
interface NodeChoices {
  readonly jobs: number;
  readonly repos?: readonly string[];
  readonly agent?: string;
  readonly answerAfter?: DefaultAnswer;
}

/** The folders of `--repos`, else those that the user trusts. Error codes: `invalid_usage`. */
export async function servedFolders(
  cli: CliContext,
  { jobs, repos, agent, answerAfter }: NodeChoices,
): Promise<ServedFolders> {
  if (jobs === 0 && [repos, agent, answerAfter].some((choice) => choice !== undefined)) {
    throw wrongUsage(
      "A node with --jobs 0 runs no exchanges. Leave --jobs 0 out, or --repos, --agent and --answer-after.",
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
  if (named === "") {
    throw wrongUsage("A folder of --repos is empty. Name a folder, or write none.");
  }
  const folder = resolve(cli.cwd, named);
  await refuseNoFolder(folder, "A folder of --repos");
  return realpath(folder);
}
