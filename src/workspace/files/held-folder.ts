import { constants, type Dirent } from "node:fs";
import { lstat, mkdir, open, readdir, readlink, realpath, type FileHandle } from "node:fs/promises";
import { join, relative, sep } from "node:path";

import { systemCode } from "../../core/errors.ts";
import { refusal } from "./refusal.ts";

/** A folder that stays the same one while it is held, whatever its path leads to meanwhile. */
export interface HeldFolder extends AsyncDisposable {
  /** Names below this path are looked up in the folder itself. */
  readonly at: string;
  /** Refuses if the folder is no longer at its path. */
  check(): Promise<void>;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens a folder below the root, a name at a time and never through a link, so that one that is
 * swapped for a link meanwhile leads nowhere. `path` is a real path; with `create`, missing folders
 * are made in the one that is held.
 *
 * On Linux names are looked up below `/proc/self/fd`, which is the open folder itself. Elsewhere
 * Node.js has no such way: each name is opened by its whole path and its real path is compared
 * afterwards, so a folder that is swapped and swapped back in between is not noticed.
 */
export async function holdFolder(
  root: string,
  path: string,
  { create = false }: { readonly create?: boolean } = {},
): Promise<HeldFolder> {
  let handle = await open(root, FOLDER);
  let reached = root;
  try {
    await checkPath(handle, reached);
    for (const name of relative(root, path).split(sep).filter(Boolean)) {
      const from = join(await entrance(handle, reached), name);
      if (create) {
        await mkdir(from).catch(ignoreExisting);
      }
      const next = await open(from, FOLDER);
      await handle.close();
      handle = next;
      reached = join(reached, name);
      await checkPath(handle, reached);
    }
    const at = await entrance(handle, reached);
    return {
      at,
      check: () => checkPath(handle, reached),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw ["ELOOP", "ENOTDIR"].includes(systemCode(error) ?? "") ? moved() : error;
  }
}

/** Lists a folder below the root, read from the folder itself. */
export async function entriesIn(root: string, path: string): Promise<Dirent[]> {
  await using held = await holdFolder(root, path);
  const entries = await readdir(held.at, { withFileTypes: true });
  await held.check();
  return entries;
}

/** Refuses what was opened if its real path is not the one that was checked before. */
export async function checkPath(handle: FileHandle, path: string): Promise<void> {
  const real = (await descriptorPath(handle)) ?? (await pathIfSame(handle, path));
  if (real !== path) {
    throw moved();
  }
}

/** Elsewhere than on Linux: the path must still lead to what is open, and through no link. */
async function pathIfSame(handle: FileHandle, path: string): Promise<string | null> {
  const [real, there, opened] = await Promise.all([
    realpath(path).catch(() => null),
    lstat(path, { bigint: true }).catch(() => null),
    handle.stat({ bigint: true }),
  ]);
  return there?.ino === opened.ino && there.dev === opened.dev ? real : null;
}

async function entrance(handle: FileHandle, path: string): Promise<string> {
  return (await descriptorPath(handle)) === null ? path : `/proc/self/fd/${handle.fd}`;
}

/** The real path of what is open; null if the system does not know it. */
async function descriptorPath(handle: FileHandle): Promise<string | null> {
  return process.platform === "linux"
    ? readlink(`/proc/self/fd/${handle.fd}`).catch(() => null)
    : null;
}

function ignoreExisting(error: unknown): void {
  if (systemCode(error) !== "EEXIST") {
    throw error;
  }
}

function moved(): Error {
  return refusal("a folder of this path was replaced meanwhile; try again");
}
