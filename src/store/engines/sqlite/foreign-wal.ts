import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";

import { RepriseError } from "../../../core/errors.ts";
import { realDatabasePath } from "../../database-path.ts";

/**
 * Refuses a write-ahead log that cannot belong to the database beside it, before SQLite sees it: it
 * would discard the log if the database is missing or empty, and mix the two if a backup was copied
 * over a database that had not been closed. Neither file is changed.
 *
 * Error codes: `database_unavailable`.
 */
export function refuseForeignWal(path: string): void {
  const real = realDatabasePath(path);
  // the log first: a process that makes the database at this moment makes the database first
  const log = statSync(`${real}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) {
    return;
  }
  const database = statSync(real, { throwIfNoEntry: false });
  if (database === undefined || database.size === 0) {
    throw new RepriseError(
      "database_unavailable",
      "The database file is missing or empty, but its write-ahead log (the file ending in -wal) exists and may hold messages. Put the database back beside it, or move the log away to begin a new one.",
    );
  }
  if (!isOpenHere(database) && !isLogged(real)) {
    throw new RepriseError(
      "database_unavailable",
      "The write-ahead log beside the database (the file ending in -wal) belongs to another database, for example because a backup was copied over one that was not closed. Move the files ending in -wal and -shm away, then try again.",
    );
  }
}

/**
 * True if this process has the file open. It was checked then, and must not be opened here again:
 * closing any descriptor of it would drop SQLite's locks.
 */
export function isOpenHere(database: Stats, { except = -1 } = {}): boolean {
  try {
    return readdirSync("/dev/fd")
      .map(Number)
      .some((descriptor) => descriptor !== except && isSame(descriptor, database));
  } catch {
    // unknown: an unchecked file is better than a dropped lock
    return true;
  }
}

function isSame(descriptor: number, database: Stats): boolean {
  try {
    const { dev, ino } = fstatSync(descriptor);
    return dev === database.dev && ino === database.ino;
  } catch {
    // the one that listed the folder is closed by now
    return false;
  }
}

/** Where the file's header says by which kind of journal it is written: 2 is a write-ahead log. */
const READ_VERSION = 19;

/** A database that has a log says so in its header; what a backup wrote says that it has none. */
function isLogged(path: string): boolean {
  const descriptor = openSync(path, "r");
  try {
    const header = Buffer.alloc(READ_VERSION + 1);
    readSync(descriptor, header, 0, header.length, 0);
    return header[READ_VERSION] !== 1;
  } finally {
    closeSync(descriptor);
  }
}
