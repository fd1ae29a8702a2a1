import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** What SQLite lays beside a database. */
const SIDE_FILES = ["-wal", "-shm", "-journal"];

/**
 * True where a path leads to a database file that is there, under whatever name, or to one of the
 * files that belong to it. No file is opened.
 */
export function isSameFile(database: string, path: string): boolean {
  const own = realpathSync(database);
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  const { dev, ino } = statSync(own, { bigint: true });
  return (
    (found?.dev === dev && found.ino === ino) ||
    SIDE_FILES.some((side) => placeOf(path) === own + side)
  );
}

/** With its folder's real path; null where there is no such folder. */
function placeOf(path: string): string | null {
  const folder = dirname(path);
  return statSync(folder, { throwIfNoEntry: false }) === undefined
    ? null
    : join(realpathSync(folder), basename(path));
}
