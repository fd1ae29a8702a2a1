import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { RepriseError } from "../core/errors.ts";

/** Files that SQLite creates next to a database. */
export const SIDE_FILES = ["-wal", "-shm", "-journal"];

/** The real path of a database; the path itself if there is none yet. */
export function realDatabasePath(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
}

/** Error codes: `database_unavailable`, with what to do about it. */
export function requireDatabase(path: string, advice: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new RepriseError("database_unavailable", `There is no database at this path${advice}`);
  }
}

/**
 * True if a path leads to a database file that is there, under whatever name, or to one of the
 * files that belong to it. No file is opened.
 */
export function isSameFile(database: string, path: string): boolean {
  const own = realpathSync(database);
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  const { dev, ino } = statSync(own, { bigint: true });
  return (
    (found?.dev === dev && found.ino === ino) ||
    SIDE_FILES.some((side) => pathInFolder(path) === own + side)
  );
}

/** With its folder's real path; null if that folder does not exist. */
function pathInFolder(path: string): string | null {
  const folder = dirname(path);
  return statSync(folder, { throwIfNoEntry: false }) === undefined
    ? null
    : join(realpathSync(folder), basename(path));
}
