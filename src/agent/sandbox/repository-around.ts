import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

import { isInside } from "../../workspace/files/real-path.ts";

interface Found {
  readonly path: string;
  readonly real: string;
}

/**
 * The repository that the session's folder is in, if that is below one of the homes, and the repository that a linked
 * worktree belongs to: without them neither git nor the programs of a larger project would work. Never a home itself.
 */
export async function repositoryAround(
  folder: string,
  homes: readonly string[],
): Promise<readonly Found[]> {
  const home = homes
    .filter((each) => isInside(each, folder))
    .toSorted()
    .at(-1);
  const above: string[] = [];
  for (let at = folder; home !== undefined && at !== home; at = dirname(at)) {
    above.push(at);
  }
  const tops: string[] = [];
  for (const at of above) {
    if (await exists(join(at, ".git"))) {
      tops.push(at);
    }
  }
  const around = tops.filter((top) => top !== folder).at(-1);
  const ofWorktrees = await Promise.all(tops.map(repositoryOfWorktree));
  return [
    ...(around === undefined ? [] : [around]),
    ...ofWorktrees.filter((path) => path !== null),
  ].map((path) => ({ path, real: path }));
}

/** The git folder of the repository of a linked worktree, if that knows the worktree; else null. */
async function repositoryOfWorktree(top: string): Promise<string | null> {
  try {
    const [, named = ""] = /^gitdir: (.+)$/m.exec(await readFile(join(top, ".git"), "utf8")) ?? [];
    const own = await realpath(resolve(top, named));
    const back = (await readFile(join(own, "gitdir"), "utf8")).trim();
    const common = (await readFile(join(own, "commondir"), "utf8")).trim();
    // a file that came with the folder could name any repository
    const isKnown = (await realpath(resolve(own, back))) === join(top, ".git");
    const git = await realpath(resolve(own, common));
    return isKnown && (await exists(join(git, "objects"))) ? git : null;
  } catch {
    // it is a folder, or there is none
    return null;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
