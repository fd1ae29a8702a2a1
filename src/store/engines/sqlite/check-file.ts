import { existsSync, type Stats, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";

import { type Check, ok, warning } from "../../check.ts";

/** Files that SQLite creates next to a database, and the database itself. */
export const SUFFIXES = ["", "-wal", "-shm"] as const;

/**
 * The file and its folder: who may read them, and how much space is free.
 * Opens nothing.
 */
export function checkFiles(path: string): Check[] {
  return [checkModes(path), checkDisk(path)];
}

/** Rights of others than its user, in octal: 0o077. */
const OTHERS = 0o077;

function checkModes(path: string): Check {
  // the files first: a folder that others may read, such as a project's, is often meant to be one
  const open = [...SUFFIXES.map((suffix) => path + suffix), dirname(path)]
    .map(statOf)
    .find((found) => found !== undefined && (found.mode & OTHERS) !== 0);
  if (open === undefined) {
    return ok("modes", "Only your user can read the database and its folder.");
  }
  const mode = (open.mode & 0o777).toString(8);
  return warning(
    "modes",
    open.isDirectory()
      ? `Other users can read the database's folder (mode ${mode}). Use a separate folder, or restrict this one with chmod 700.`
      : `Other users can read the database or a file beside it (mode ${mode}). Restrict it with chmod 600.`,
  );
}

const GIB = 1024 ** 3;

function checkDisk(path: string): Check {
  const { bavail, bsize } = statfsSync(nearest(path), { bigint: true });
  const free = Number(bavail * bsize);
  const size = SUFFIXES.reduce((sum, suffix) => sum + (statOf(path + suffix)?.size ?? 0), 0);
  const isShort = free < Math.max(GIB, size);
  const space = `${gibibytes(free)} GiB are free; the database has ${gibibytes(size)} GiB`;
  return isShort
    ? warning(
        "disk",
        `${space}. Free some space: a backup needs as much space as the database, and nothing can be stored on a full disk.`,
      )
    : ok("disk", `${space}.`);
}

/** The nearest existing parent folder. */
function nearest(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) {
    folder = dirname(folder);
  }
  return folder;
}

function gibibytes(bytes: number): string {
  return (bytes / GIB).toFixed(1);
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
