import { realpathSync, statSync } from "node:fs";

import { RepriseError } from "../../core/errors.ts";

/**
 * Remembers which file stands at the path of a database that was just opened. The returned check
 * refuses once it, or its log, was moved, deleted or replaced: what is written then goes to files
 * without a name and is gone with the process. It passes again once they are back.
 *
 * Error codes: `database_unavailable`.
 */
export function rememberPlace(path: string): () => void {
  const log = `${realpathSync(path)}-wal`;
  const opened = { database: inodeOf(path), log: inodeOf(log) };
  return () => {
    if (inodeOf(path) !== opened.database || inodeOf(log) !== opened.log) {
      throw new RepriseError(
        "database_unavailable",
        "The database file, or the file ending in -wal beside it, was moved, deleted or replaced while it was open, so nothing was stored; put it back, or stop every Reprise that uses it and start again.",
      );
    }
  };
}

function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}
