import { readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { isRepriseError, RepriseError } from "../../../../core/errors.ts";
import { mebibytes } from "../../../../core/text/text.ts";
import type { PlannedBackup } from "../../migrations/upgrade-plan.ts";
import { backupSqlite } from "./backup.ts";
import { queryValue } from "../statements.ts";

export interface BackupBeforeUpgrade {
  readonly database: string;
  /** Its schema version. */
  readonly version: number;
}

/**
 * Copies a database beside itself, before its tables are changed. Belongs under the setup lock:
 * halves of copies that an earlier process left are removed. Returns the path of the copy.
 *
 * Error codes: `database_full` if it does not fit, `database_*`, `file_unwritable`.
 */
export async function backUpBeforeUpgrade(options: BackupBeforeUpgrade): Promise<string> {
  const { database } = options;
  removeHalves(options);
  const { needed, free } = spaceForBackup(database);
  if (needed > free) {
    throw refused(
      "database_full",
      `it needs ${mebibytes(needed)} MiB, ${mebibytes(free)} are free`,
    );
  }
  const target = backupPath(options);
  try {
    await backupSqlite({ database, target, overwrite: false });
  } catch (error) {
    throw isRepriseError(error) ? refused(error.code, error.message, error) : error;
  }
  return target;
}

function refused(code: RepriseError["code"], reason: string, cause?: unknown): RepriseError {
  return new RepriseError(
    code,
    `An older Reprise wrote the database, and no backup could be made before it is upgraded, so it was not changed (${reason}). Free some space and try again, or upgrade without a backup: --no-backup.`,
    { cause },
  );
}

/** The first name that is free: what an earlier upgrade left is never replaced. */
export function backupPath({ database, version }: BackupBeforeUpgrade): string {
  const start = `${database}.version-${version}`;
  for (let count = 1; ; count += 1) {
    const path = `${start}${count === 1 ? "" : `.${count}`}.backup`;
    if (statSync(path, { throwIfNoEntry: false }) === undefined) {
      return path;
    }
  }
}

/** Copies that were not finished have different names: see `backupSqlite`. */
function removeHalves({ database }: BackupBeforeUpgrade): void {
  const folder = dirname(database);
  const start = `${basename(database)}.version-`;
  for (const name of readdirSync(folder)) {
    if (
      name.startsWith(start) &&
      /^\d+(\.\d+)?\.backup\.[\da-f]{8}\.partial(-journal)?$/.test(name.slice(start.length))
    ) {
      rmSync(join(folder, name), { force: true });
    }
  }
}

/** Compares what a copy needs and what the disk has. Opens the database with SQLite, for reading only. */
export function spaceForBackup(database: string): Omit<PlannedBackup, "path"> {
  const raw = new DatabaseSync(database, { readOnly: true, timeout: 5000 });
  try {
    const pragma = (name: string): number => Number(queryValue(raw, `PRAGMA ${name}`));
    const { bavail, bsize } = statfsSync(dirname(database), { bigint: true });
    return {
      needed: (pragma("page_count") - pragma("freelist_count")) * pragma("page_size"),
      free: Number(bavail * bsize),
    };
  } finally {
    raw.close();
  }
}
