import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";

/** The folders of git of a checkout. In a worktree they differ. */
export interface GitFolder {
  /** Holds `HEAD` of this checkout. */
  readonly own: string;
  /** Holds the configuration and the objects: that of the main checkout. */
  readonly common: string;
}

/** A file `.git`, `commondir` in a worktree's git folder, and `HEAD` are one short line. */
const MAX_POINTER = 4096;
const ID_LENGTH = 7;

/**
 * Finds the innermost repository around a folder by reading files: nothing of it is executed. Null without one, and for
 * somebody else's. Never fails.
 */
export async function gitFolderAround(folder: string): Promise<GitFolder | null> {
  for (let at = folder; ; at = dirname(at)) {
    const git = join(at, ".git");
    const found = await lstat(git).catch(() => null);
    if (found !== null) {
      const isMine = found.uid === userInfo().uid;
      return isMine ? (found.isDirectory() ? { own: git, common: git } : namedIn(git)) : null;
    }
    if (dirname(at) === at) {
      return null;
    }
  }
}

async function namedIn(file: string): Promise<GitFolder | null> {
  const [, named] = /^gitdir: (.+)$/m.exec((await readSmall(file, MAX_POINTER)) ?? "") ?? [];
  if (named === undefined) {
    return null;
  }
  const own = resolve(dirname(file), named);
  const common = await readSmall(join(own, "commondir"), MAX_POINTER);
  // a submodule has a git folder without `commondir`
  return { own, common: common === null ? own : resolve(own, common.trim()) };
}

/**
 * Returns the branch that is checked out around a folder, or the first characters of the commit without one; null
 * without a repository. The name need not be clean. Never fails.
 */
export async function branchOf(folder: string): Promise<string | null> {
  const git = await gitFolderAround(folder);
  const head = git === null ? null : await readSmall(join(git.own, "HEAD"), MAX_POINTER);
  const [, branch, commit] =
    /^(?:ref: refs\/heads\/(.+)|([\da-f]{40,64}))$/m.exec(head?.trim() ?? "") ?? [];
  return branch ?? commit?.slice(0, ID_LENGTH) ?? null;
}

/** Null for everything but a plain file that is short enough: a repository can contain pipes and devices. */
export async function readSmall(path: string, max: number): Promise<string | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      return found.isFile() && found.size <= max ? await file.readFile("utf8") : null;
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}
