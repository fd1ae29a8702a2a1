import { constants, type Dirent } from "node:fs";
import { chmod, open, opendir, readdir, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { systemCode } from "../../core/errors.ts";
import { holdFolder } from "../files/held-folder.ts";

/** Why a folder could not be listed: for want of rights, because its path is too long, or for another reason. */
export type ListFailure = "rights" | "too_long" | "other";

export type Listing = AsyncIterable<Dirent> | readonly Dirent[] | ListFailure;

/** Bytes of a folder itself above which its entries are read in parts: they would need too much memory. */
const MAX_WHOLE = 1024 * 1024;
const READ_TOGETHER = 1024;

/**
 * Lists a folder. Empty only if the folder is not there. A folder that can be listed and whose entries cannot be
 * reached counts as one that cannot be listed.
 */
export async function listFolder(folder: string): Promise<Listing> {
  // the dot needs the right to enter the folder, too
  const entered = `${folder}/.`;
  try {
    return await whileBusy(async () => {
      const { size } = await stat(entered);
      return size > MAX_WHOLE
        ? await opendir(entered, { bufferSize: READ_TOGETHER })
        : await readdir(entered, { withFileTypes: true });
    });
  } catch (error) {
    return isMissing(error) ? [] : failureOf(error);
  }
}

/** True for the error of a path at which nothing is, or no folder any more. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "");
}

function failureOf(error: unknown): ListFailure {
  switch (systemCode(error)) {
    case "EACCES":
    case "EPERM":
      return "rights";
    case "ENAMETOOLONG":
      return "too_long";
    default:
      return "other";
  }
}

const BUSY: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR"]);
const ATTEMPTS = 50;
const PAUSE_MS = 100;

/** Repeats what fails because too many files are open. */
async function whileBusy<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!BUSY.has(systemCode(error) ?? "") || attempt === ATTEMPTS) {
        throw error;
      }
      await sleep(PAUSE_MS);
    }
  }
}

/** Opens a path only to refer to it, which needs no right to it. Linux alone has it. */
const O_PATH = 0o10000000;
const ALL_OF_OWNER = 0o700;

/**
 * Gives the owner of a folder the rights to list and change it; false if that cannot be done. Through what is open,
 * never through a link.
 */
export async function giveRights(root: string, folder: string): Promise<boolean> {
  if (process.platform !== "linux") {
    return false;
  }
  const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  try {
    await using held = folder === root ? null : await holdFolder(root, dirname(folder));
    const handle = await open(held === null ? folder : `${held.at}/${basename(folder)}`, flags);
    try {
      const { mode } = await handle.stat();
      await chmod(`/proc/self/fd/${handle.fd}`, (mode & 0o7777) | ALL_OF_OWNER);
      return true;
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}
