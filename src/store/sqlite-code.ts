/** Primary result codes for a lock that another process has: SQLITE_BUSY, SQLITE_LOCKED and SQLITE_PROTOCOL. */
const BUSY: readonly number[] = [5, 6, 15];

/** True for a failure of SQLite because another process has the lock. */
export function isBusy(error: unknown): boolean {
  return BUSY.includes(sqliteCode(error) ?? 0);
}

/** Returns the primary result code (https://sqlite.org/rescode.html) of a failure of `node:sqlite`; null for any other error. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") {
    return null;
  }
  return error.errcode & 0xff;
}
