import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";

import { RepriseError, systemCode } from "../../../../core/errors.ts";
import { isSameFile, requireDatabase, SIDE_FILES } from "../../../database-path.ts";

export interface BackupTarget {
  /** The database file; it is only read, whatever version of Reprise wrote it. */
  readonly database: string;
  /** The path of the copy: a file in an existing folder. */
  readonly target: string;
  /** True to replace an existing file. */
  readonly overwrite: boolean;
}

/**
 * Refuses a target that is the database itself or one of the files beside it, that exists already,
 * or that has another database's log beside it: SQLite would take that for the copy's log.
 *
 * Error codes: `invalid_usage`, `file_unwritable`, `database_unavailable`.
 */
export function checkTarget({ database, target, overwrite }: BackupTarget): void {
  requireDatabase(database, ", so there is nothing to back up; name one with --database.");
  requireFolder(target);
  if (isSameFile(database, target)) {
    throw usage("A backup cannot overwrite the database itself. Name another file.");
  }
  const found = statSync(target, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) {
    throw usage("The backup path is a folder or a device. Name a file.");
  }
  if (found !== undefined && !overwrite) {
    throw usage(
      "There is already a file with the name of the backup. Choose another name, or replace it with --force.",
    );
  }
  if (SIDE_FILES.some((side) => statSync(target + side, { throwIfNoEntry: false }) !== undefined)) {
    throw usage(
      "Files of another database are next to the backup path (-wal, -shm, -journal): it is in use or was not closed. Choose another name.",
    );
  }
}

function usage(sentence: string): RepriseError {
  return new RepriseError("invalid_usage", sentence);
}

function requireFolder(target: string): void {
  try {
    realpathSync(dirname(target));
  } catch (error) {
    throw unwritable(error);
  }
}

/** Makes the empty file that SQLite fills: nobody but this user may ever read it. */
export function makePartial(partial: string): void {
  try {
    closeSync(openSync(partial, "wx", 0o600));
  } catch (error) {
    throw unwritable(error);
  }
}

/**
 * Syncs the copy and gives it its name. Returns its size in bytes.
 *
 * Error codes: `invalid_usage` if a file has appeared there since, `file_unwritable`.
 */
export function putInPlace(partial: string, { target, overwrite }: BackupTarget): number {
  try {
    sync(partial, "r+");
    const { size } = statSync(partial);
    if (overwrite || !linked(partial, target)) {
      renameSync(partial, target);
    }
    sync(dirname(target), "r");
    return size;
  } catch (error) {
    throw unwritable(error);
  }
}

/** Unlike a rename, a link never replaces what appeared there since. False if there are none. */
function linked(partial: string, target: string): boolean {
  try {
    linkSync(partial, target);
  } catch (error) {
    if (
      systemCode(error) === "EEXIST" ||
      statSync(target, { throwIfNoEntry: false }) !== undefined
    ) {
      throw error;
    }
    return false;
  }
  rmSync(partial);
  return true;
}

function sync(path: string, flags: string): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function unwritable(error: unknown): unknown {
  switch (systemCode(error)) {
    case "EEXIST":
      return usage("A file has appeared at the backup's place meanwhile; name another one.");
    case "ENOSPC":
    case "EDQUOT":
      return new RepriseError(
        "database_full",
        "The disk is full, so no backup was kept; free some space and try again.",
        { cause: error },
      );
    case undefined:
      return error;
    default:
      return new RepriseError(
        "file_unwritable",
        "The backup cannot be written there. Name a file in an existing folder that you can write to.",
        { cause: error },
      );
  }
}
