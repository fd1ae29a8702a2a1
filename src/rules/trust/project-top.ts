import { lstat, readFile, realpath } from "node:fs/promises";
import type { Stats } from "node:fs";
import { userInfo } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

import { isWideFolder, realFolder } from "./wide-folder.ts";

/** A `.git` file or a pointer in git's folder is one short line. */
const MAX_POINTER = 4096;

/**
 * The folder by whose real path a decision on trust is kept: the git top level, found by reading
 * files and never by running git. A worktree counts as its main checkout if both point at each other.
 * Without a `.git` of this user it is the folder itself, and so it is if the top level would be the
 * home folder or one above it: one decision must not count for everything that is downloaded there.
 */
export async function projectTop(folder: string, home: string | null): Promise<string> {
  const start = await realFolder(folder);
  const realHome = home === null ? null : await realFolder(home);
  for (let at = start; !isWideFolder(at, realHome); at = dirname(at)) {
    const git = await lstat(join(at, ".git")).catch(() => null);
    if (git !== null) {
      return isMine(git) ? mainCheckout({ at, git, realHome }) : start;
    }
  }
  return start;
}

/** A folder of somebody else above this one must not decide what is trusted together. */
function isMine({ uid }: Stats): boolean {
  return uid === userInfo().uid;
}

async function mainCheckout(input: {
  at: string;
  git: Stats;
  realHome: string | null;
}): Promise<string> {
  const { at, git, realHome } = input;
  const common = git.isFile() ? await commonFolder(at) : null;
  if (common === null || basename(common) !== ".git") {
    return at;
  }
  const main = dirname(common);
  const found = await lstat(common).catch(() => null);
  return found?.isDirectory() === true && isMine(found) && !isWideFolder(main, realHome)
    ? main
    : at;
}

/** Git's folder of the main checkout, or null if it does not point back at this worktree. */
async function commonFolder(worktree: string): Promise<string | null> {
  try {
    const pointer = /^gitdir: (.+)$/.exec(await firstLine(join(worktree, ".git")))?.[1];
    if (pointer === undefined) {
      return null;
    }
    const own = await realpath(resolve(worktree, pointer));
    const common = await realpath(resolve(own, await firstLine(join(own, "commondir"))));
    const back = await realpath(resolve(own, await firstLine(join(own, "gitdir"))));
    const isListed = dirname(own) === join(common, "worktrees");
    return isListed && back === join(worktree, ".git") ? common : null;
  } catch {
    return null;
  }
}

async function firstLine(path: string): Promise<string> {
  const { size } = await lstat(path).then((found) => (found.isFile() ? found : { size: Infinity }));
  if (size > MAX_POINTER) {
    throw new RangeError("a pointer of git is one short line");
  }
  return (await readFile(path, "utf8")).split("\n", 1)[0]?.trim() ?? "";
}
