import { readdirSync, readlinkSync } from "node:fs";

import { realDatabasePath } from "../../database-path.ts";
import { refuseForeignWal } from "./foreign-wal.ts";
import { type Check, failed, failedBy, ok } from "../../check.ts";
import { SUFFIXES } from "./check-file.ts";

/**
 * Whether the write-ahead log is the database's own, and whether a process works on with a file
 * that was deleted under it: what that process stores is gone once it ends. The second can be
 * checked on Linux only, for this user's processes. Must be called before this process opens
 * the file.
 */
export function checkLog(path: string): Check {
  try {
    refuseForeignWal(path);
  } catch (error) {
    return failedBy(error, "log");
  }
  const holders = processesWithDeletedFiles(realDatabasePath(path));
  if (holders === null) {
    return ok(
      "log",
      "The write-ahead log belongs to this database. This system does not report whether a process has a deleted log open.",
    );
  }
  return holders.length === 0
    ? ok(
        "log",
        "The write-ahead log belongs to this database, and no process of this user has a deleted log open.",
      )
    : failed(
        "log",
        `A file of the database was deleted while process ${holders.join(", ")} had it open; what that process stores is lost when it ends. Copy what it shows, stop it, then run \`reprise doctor\` again.`,
      );
}

/** Null if the system does not report it. */
function processesWithDeletedFiles(path: string): number[] | null {
  const deleted = new Set(SUFFIXES.map((suffix) => `${path}${suffix} (deleted)`));
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return null;
  }
  const pids = names.filter((name) => /^\d+$/.test(name));
  if (!pids.includes(String(process.pid))) {
    return null;
  }
  return pids.filter((pid) => openFiles(pid).some((file) => deleted.has(file))).map(Number);
}

/** None for a process that has ended since, or is another user's. */
function openFiles(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
