import { type ErrorCode, type ErrorDetails, RepriseError } from "../../../core/errors.ts";
import { isBusy, sqliteCode } from "../../sqlite-code.ts";

const LOCKED = [
  "database_locked",
  "Another program kept the database locked for more than 5 seconds, so nothing was stored; close it or try again.",
] as const;

export const UNWRITABLE = [
  "database_readonly",
  "The database cannot be written; check the permissions of the file and its folder, then try again.",
] as const;

const CORRUPT = [
  "database_corrupt",
  "The database file is damaged or is not a Reprise database. Keep the file unchanged and restore a backup, or name another file with --database.",
] as const;

/** Failures that a user can do something about, besides a lock: by primary result code. */
const FAILURES: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  3: UNWRITABLE, // SQLITE_PERM
  8: UNWRITABLE, // SQLITE_READONLY
  // SQLITE_IOERR
  10: [
    "database_unavailable",
    "The disk reported an error while the database was used, so nothing was stored; check the disk and try again.",
  ],
  11: CORRUPT, // SQLITE_CORRUPT
  // SQLITE_FULL
  13: ["database_full", "The disk is full, so nothing was stored; free some space and try again."],
  // SQLITE_CANTOPEN
  14: [
    "database_unavailable",
    "The database file cannot be opened; check that you may write the file, the -wal and -shm files beside it and their folder.",
  ],
  26: CORRUPT, // SQLITE_NOTADB
};

/** Turns a failure of SQLite into a sentence with a next step; anything else passes unchanged. */
export function sqliteFailure(error: unknown): unknown {
  const failure = knownFailure(error);
  return failure === undefined ? error : new RepriseError(...failure, { cause: error });
}

/** As `sqliteFailure`, while a file is opened: any other error of SQLite means that it is damaged. */
export function openingFailure(error: unknown): unknown {
  const failure = sqliteFailure(error);
  return sqliteCode(failure) === null ? failure : corruptFile({ cause: failure });
}

export function corruptFile(details: ErrorDetails = {}): RepriseError {
  return new RepriseError(...CORRUPT, details);
}

function knownFailure(error: unknown) {
  return isBusy(error) ? LOCKED : FAILURES[sqliteCode(error) ?? -1];
}
