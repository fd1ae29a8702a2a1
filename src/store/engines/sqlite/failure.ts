import { type ErrorDetails, RepriseError } from "../../../core/errors.ts";

/** SQLite's primary result codes (https://sqlite.org/rescode.html) that a user can do something about. */
const PERM = 3;
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const NOTADB = 26;

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED || code === PROTOCOL;
}

/** True for an error that `node:sqlite` threw, whatever its code. */
export function isSqliteError(error: unknown): boolean {
  return sqliteCode(error) !== null;
}

/** Turns a failure of SQLite into a sentence with a next step; anything else passes unchanged. */
export function sqliteFailure(error: unknown): unknown {
  const cause = { cause: error };
  switch (sqliteCode(error)) {
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return new RepriseError(
        "database_locked",
        "Another program kept the database locked for more than 5 seconds, so nothing was stored; close it or try again.",
        cause,
      );
    case READONLY:
    case PERM:
      return new RepriseError(
        "database_readonly",
        "The database cannot be written; check the permissions of the file and its folder, then try again.",
        cause,
      );
    case CORRUPT:
    case NOTADB:
      return corruptFile(cause);
    case FULL:
      return new RepriseError(
        "database_full",
        "The disk is full, so nothing was stored; free some space and try again.",
        cause,
      );
    case CANTOPEN:
      return new RepriseError(
        "database_unavailable",
        "The database file cannot be opened; check that you may write the file, the -wal and -shm files beside it and their folder.",
        cause,
      );
    case IOERR:
      return new RepriseError(
        "database_unavailable",
        "The disk reported an error while the database was used, so nothing was stored; check the disk and try again.",
        cause,
      );
    default:
      return error;
  }
}

export function corruptFile(details: ErrorDetails = {}): RepriseError {
  return new RepriseError(
    "database_corrupt",
    "The database file is damaged or is not a Reprise database; keep it as it is and restore a backup, or name another file with --database.",
    details,
  );
}

/** The primary result code of a failure of `node:sqlite`; null for any other error. */
function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") {
    return null;
  }
  return error.errcode & 0xff;
}
