import { realpathSync, statSync } from "node:fs";

import { RepriseError } from "../../../core/errors.ts";
import { createFileWatch } from "./file-watch.ts";

export interface InodeGuard extends Disposable {
  /**
   * Throws once the file or its log was moved, deleted or replaced: what is written then goes to
   * files without a name and is gone with the process. It passes again once they are back. Throws
   * from then on once another program than SQLite has changed the file itself.
   *
   * Error codes: `database_unavailable`.
   */
  require(): void;
}

/**
 * Remembers which file is at the path of a database that was just opened. Costs two `stat` for
 * each check, and one read for each checkpoint of the log.
 *
 * Dispose of it after all connections of its store are closed.
 */
export function createInodeGuard(path: string): InodeGuard {
  const log = `${realpathSync(path)}-wal`;
  const opened = { database: statOf(path)?.ino, log: statOf(log)?.ino };
  const watch = createFileWatch(path);
  return {
    require: () => {
      const found = statOf(path);
      if (found?.ino !== opened.database || statOf(log)?.ino !== opened.log) {
        throw new RepriseError(
          "database_unavailable",
          "The database file, or the file ending in -wal beside it, was moved, deleted or replaced while it was open, so nothing was stored; put it back, or stop every Reprise that uses it and start again.",
        );
      }
      if (found !== undefined && !watch.isIntact(found)) {
        throw new RepriseError(
          "database_unavailable",
          "Another program has cut or overwritten the database file while it was open, so nothing was stored; stop every Reprise that uses it, move the files ending in -wal and -shm away and restore a backup.",
        );
      }
    },
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

function statOf(path: string) {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}
