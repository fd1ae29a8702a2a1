import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";

import { RepriseError } from "../../../../core/errors.ts";
import { databaseTooOld } from "../../migrations/history.ts";
import type { BackupAnswer, BackupOrder, Contents } from "./backup-worker.ts";
import { type BackupTarget, checkTarget, makePartial, putInPlace } from "./backup-target.ts";
import { sqliteFailure } from "../failure.ts";

export interface BackupOptions extends BackupTarget {
  /**
   * Aborted when nobody waits for the copy any longer: what was written of it is removed at once.
   */
  readonly signal?: AbortSignal;
}

export interface Backup extends Contents {
  readonly path: string;
  readonly bytes: number;
}

/** Beside this file, and of the same kind: TypeScript, or what is built from it. */
const WORKER = new URL(`./backup-worker${extname(import.meta.url)}`, import.meta.url);
/**
 * How long the copy waits for a lock: a process that opens the database for the first time has one.
 */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Copies a database that may be in use to one file: everything that was committed before the copy
 * began, in one consistent state, compacted. It is checked (`PRAGMA integrity_check`) and synced,
 * and only then it appears under its name, with mode 0600; before that, or if anything fails,
 * nothing does.
 *
 * A separate thread does it, because SQLite blocks the thread that asks for a copy. The copy is
 * one read transaction, so writers are never in its way, nor it in theirs.
 *
 * Error codes: `invalid_usage` (the target), `file_unwritable`, `database_*`.
 */
export async function backupSqlite(options: BackupOptions): Promise<Backup> {
  checkTarget(options);
  const partial = `${options.target}.${randomUUID().slice(0, 8)}.partial`;
  const remove = (): void => rmSync(partial, { force: true });
  makePartial(partial);
  options.signal?.addEventListener("abort", remove);
  try {
    const contents = await copy({ database: options.database, partial, timeout: BUSY_TIMEOUT_MS });
    const bytes = putInPlace(partial, options);
    return { path: options.target, bytes, ...contents };
  } finally {
    options.signal?.removeEventListener("abort", remove);
    remove();
  }
}

async function copy(order: BackupOrder): Promise<Contents> {
  const worker = new Worker(WORKER, { workerData: order });
  const [answer]: BackupAnswer[] = await once(worker, "message");
  switch (answer?.kind) {
    case "copied":
      return { sessions: answer.sessions, threads: answer.threads };
    case "foreign":
      throw new RepriseError(
        "database_foreign",
        "The file is not a Reprise database; name another one with --database.",
      );
    case "too_old":
      throw databaseTooOld();
    case "damaged":
      throw new RepriseError(
        "database_corrupt",
        "The copy did not pass SQLite's integrity check, so none was kept: the database is damaged. Restore an earlier backup.",
      );
    case "failed":
      throw sqliteFailure(Object.assign(new Error(answer.message), { errcode: answer.errcode }));
    default:
      throw new Error("the thread that copies gave no answer");
  }
}
