import type { BigIntStats } from "node:fs";
import {
  chmod,
  constants,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { systemCode } from "../../core/errors.ts";
import type { Entry, FileEntry, LinkEntry } from "../../core/files/file-entries.ts";
import { type HeldFolder, holdFolder } from "../files/held-folder.ts";
import { isLeftover, removeLeftovers, temporaryName } from "../files/temporary-name.ts";
import { refusal } from "../files/refusal.ts";
import { hashOf, syncFolder } from "./kept-bytes.ts";

/** A path below the real path of a session's folder. */
export interface Place {
  readonly root: string;
  /** With `/`. */
  readonly path: string;
}

/** Entry at a path now. */
export interface Found {
  readonly entry: Entry | null;
  /** Bytes of a file. */
  readonly bytes: Buffer | null;
  /** By which it is compared later. */
  readonly stat: BigIntStats | null;
}

const NOTHING: Found = { entry: null, bytes: null, stat: null };

/**
 * Reads what is at a path. Its folders are opened a name at a time, and no link is followed. Files of more than
 * `max` bytes are not read. Error codes: `invalid_request` if a link is among the folders, or if it is
 * neither a file, a link nor a folder.
 */
export async function find(place: Place, max: number): Promise<Found> {
  await using held = await holdIfThere(place);
  return held === null ? NOTHING : await findIn(held, place, max);
}

async function findIn(held: HeldFolder, { path }: Place, max: number): Promise<Found> {
  const at = join(held.at, basename(path));
  const stat = await lstatOrNull(at);
  if (stat === null) {
    return NOTHING;
  }
  const mode = Number(stat.mode & 0o7777n);
  if (stat.isSymbolicLink()) {
    return { entry: { kind: "link", target: await readlink(at) }, bytes: null, stat };
  }
  if (stat.isDirectory()) {
    return { entry: { kind: "folder", mode }, bytes: null, stat };
  }
  if (!stat.isFile()) {
    throw refusal("it is neither a file, a folder nor a link");
  }
  const size = Number(stat.size);
  if (size > max) {
    return { entry: { kind: "file", hash: null, size, mode }, bytes: null, stat };
  }
  await using file = await open(
    at,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  const opened = await file.stat({ bigint: true });
  const bytes = opened.isFile() && opened.ino === stat.ino ? await file.readFile() : null;
  const hash = bytes === null ? null : hashOf(bytes);
  return { entry: { kind: "file", hash, size: bytes?.byteLength ?? size, mode }, bytes, stat };
}

/**
 * Puts a file or a link in place of what was found there, all at once and on the disk; with null, removes it.
 * Refuses if it is not what was found any more. Folders: see `putFolder`. Error codes: `invalid_request`.
 */
export async function put(
  place: Place,
  found: Found,
  wanted: FileEntry | LinkEntry | null,
  bytes: Uint8Array | null,
): Promise<void> {
  await using held = await holdFolder(place.root, folderOf(place));
  const name = join(held.at, basename(place.path));
  if (wanted === null) {
    await refuseOther(name, found);
    await (found.entry?.kind === "folder" ? rmdir(name) : rm(name));
    await syncFolder(held.at);
    return;
  }
  const temporary = join(held.at, temporaryName());
  try {
    if (wanted.kind === "link") {
      await symlink(wanted.target, temporary);
    } else {
      await writeWhole(temporary, bytes ?? Buffer.of(), wanted.mode);
    }
    await held.check();
    await refuseOther(name, found);
    await rename(temporary, name);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(held.at);
}

/** Removes what a process that was killed has left beside a path. */
export async function tidy(place: Place): Promise<void> {
  await using held = await holdIfThere(place);
  if (held !== null) {
    await removeLeftovers(held.at);
  }
}

/** The names in a folder, but for what `tidy` removes. Empty if it cannot be read: to delete it fails then. */
export async function namesIn(place: Place): Promise<string[]> {
  await using held = await holdIfThere({ ...place, path: `${place.path}/a name in it` });
  const names = held === null ? [] : await readdir(held.at).catch(() => []);
  return names.filter((name) => !isLeftover(name));
}

/** Makes a folder. Its mode is set by `setMode`, when all is in it. */
export async function makeFolder(place: Place): Promise<void> {
  await using held = await holdFolder(place.root, folderOf(place));
  await mkdir(join(held.at, basename(place.path)));
  await syncFolder(held.at);
}

export async function setMode(place: Place, mode: number): Promise<void> {
  await using held = await holdFolder(place.root, folderOf(place));
  const name = join(held.at, basename(place.path));
  if ((await lstatOrNull(name))?.isDirectory() === true) {
    await chmod(name, mode);
  }
}

async function writeWhole(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(bytes);
  await file.chmod(mode);
  await file.sync();
}

/** Never what somebody else has put there meanwhile. */
async function refuseOther(name: string, { stat }: Found): Promise<void> {
  const now = await lstatOrNull(name);
  const isSame =
    now?.ino === stat?.ino &&
    now?.size === stat?.size &&
    now?.mtimeNs === stat?.mtimeNs &&
    // another name of the same file was replaced
    (now?.ctimeNs === stat?.ctimeNs || now?.nlink !== stat?.nlink);
  // a folder changes with what is removed from it
  if (!isSame && !(stat?.isDirectory() === true && now?.ino === stat.ino)) {
    throw refusal("another program changed it meanwhile");
  }
}

async function holdIfThere(place: Place): Promise<HeldFolder | null> {
  try {
    return await holdFolder(place.root, folderOf(place));
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return null;
    }
    throw error;
  }
}

function folderOf({ root, path }: Place): string {
  return dirname(join(root, path));
}

async function lstatOrNull(path: string): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      return null;
    }
    throw error;
  }
}
