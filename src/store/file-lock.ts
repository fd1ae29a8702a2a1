import { existsSync, closeSync, openSync, rmSync, statSync, utimesSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

import { RepriseError, systemCode } from "../core/errors.ts";
import { realDatabasePath } from "./database-path.ts";
import { isBusy } from "./sqlite-code.ts";

export interface FileLock {
  /** True if a process that was making the file died, so an empty file was never a full one. */
  readonly wasMaking: boolean;
  /** Keeps in mind, beyond the end of this process, that the file is being made. */
  markMaking(): void;
}

export interface FileLockOptions {
  /** Its path; its folder exists. */
  readonly file: string;
  /** Called once if another process has had the lock for a second. */
  readonly onLongWait: () => void;
  /** How long to wait for the lock; without it as long as it takes. */
  readonly timeoutMs?: number;
}

const LONG_WAIT_MS = 1000;
/** The modification time of a marked file: one that no clock gives. */
const MARK = 0;

/**
 * Runs `work` in one process at a time for each file, such as a database that is made or upgraded, or a config that
 * is changed; the others wait for as long as that takes. It is SQLite's own lock on an
 * empty file beside it (`-setup`), so the system drops it with a process that dies.
 *
 * The empty file is removed afterwards, unless `work` fails after `markMaking`.
 *
 * Error codes: `database_locked` if `timeoutMs` is over.
 */
export async function withFileLock<Output>(
  options: FileLockOptions,
  work: (lock: FileLock) => Promise<Output>,
): Promise<Output> {
  const path = lockOf(options.file);
  const raw = await acquire(path, options);
  let marked = statSync(path).mtimeMs === MARK;
  try {
    const output = await work({
      wasMaking: marked,
      markMaking: () => {
        utimesSync(path, MARK, MARK);
        marked = true;
      },
    });
    marked = false;
    return output;
  } finally {
    if (!marked) {
      rmSync(path, { force: true });
    }
    raw.close();
  }
}

/** True if the lock of a file is held, or was left by a process that was killed. */
export function hasFileLock(file: string): boolean {
  return existsSync(lockOf(file));
}

function lockOf(file: string): string {
  return `${realDatabasePath(file)}-setup`;
}

async function acquire(
  path: string,
  { onLongWait, timeoutMs = Infinity }: FileLockOptions,
): Promise<DatabaseSync> {
  const start = performance.now();
  let waitsLong = false;
  for (;;) {
    const raw = tryAcquire(path);
    if (raw !== null) {
      return raw;
    }
    if (performance.now() - start > timeoutMs) {
      throw new RepriseError("database_locked", "Another process holds the lock; try again.");
    }
    if (!waitsLong && performance.now() - start > LONG_WAIT_MS) {
      waitsLong = true;
      onLongWait();
    }
    await sleep(5 + Math.random() * 20);
  }
}

/** Null if another process has the lock. */
function tryAcquire(path: string): DatabaseSync | null {
  makeFile(path);
  const before = inodeOf(path);
  const raw = new DatabaseSync(path, { timeout: 0 });
  try {
    // no journal: it would be one more file in the folder
    raw.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    // the last holder may have removed the file meanwhile: then this is a lock on nothing
    if (before !== null && inodeOf(path) === before) {
      return raw;
    }
  } catch (error) {
    if (!isBusy(error)) {
      raw.close();
      throw error;
    }
  }
  raw.close();
  return null;
}

/** Opens nothing that is there: closing a descriptor of it would drop the lock of this process. */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (inodeOf(path) === null && systemCode(error) !== "EEXIST") {
      throw error;
    }
  }
}

function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}
