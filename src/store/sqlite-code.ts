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

/** SQLITE_CONSTRAINT. */
const CONSTRAINT = 19;

/** True if a rule of a table refused a row, on either engine (class 23 of PostgreSQL's SQLSTATE). */
export function isRefusedRow(error: unknown): boolean {
  const state = error instanceof Error && "code" in error ? error.code : null;
  return (
    sqliteCode(error) === CONSTRAINT || (typeof state === "string" && /^23[0-9A-Z]{3}$/.test(state))
  );
}
