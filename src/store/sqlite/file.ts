import { closeSync, mkdirSync, openSync, statSync, statfsSync } from "node:fs";
import { dirname } from "node:path";

import { RepriseError } from "../../core/errors.ts";

/**
 * File systems on which SQLite's locks cannot be trusted: the `f_type` values of statfs(2) on
 * Linux (linux/magic.h and the kernel's own headers).
 */
const NETWORK_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x6969, // NFS
  0x517b, // SMB
  0xff534d42, // CIFS
  0xfe534d42, // SMB2
  0x01021997, // 9p
  0x5346414f, // AFS
  0x00c36400, // Ceph
  0x73757245, // Coda
  0x7461636f, // OCFS2
  0x0bd00bd0, // Lustre
]);

export function isNetworkFileSystem(type: number): boolean {
  return NETWORK_FILE_SYSTEMS.has(type >>> 0);
}

/** What stood at the path before it was opened. */
export type FoundFile = "new" | "empty" | "present";

/**
 * Makes the folder (0700) and the file (0600) where they do not exist and refuses a network file
 * system. The file is only ever opened here while it is new: closing a descriptor of a database
 * that this process has open would drop SQLite's locks on it.
 */
export function prepareFile(path: string): FoundFile {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (isNetworkFileSystem(Number(statfsSync(dirname(path), { bigint: true }).type))) {
      throw new RepriseError(
        "database_network",
        "The database would be on a network file system, where SQLite's locks do not hold; name a local file with --database, or use PostgreSQL.",
      );
    }
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) {
      throw new RepriseError(
        "database_unavailable",
        "The database path is a folder; name a file with --database.",
      );
    }
    if (found !== undefined) {
      return found.size === 0 ? "empty" : "present";
    }
    return createFile(path);
  } catch (error) {
    throw fileFailure(error);
  }
}

function createFile(path: string): FoundFile {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return "new";
  } catch (error) {
    if (hasCode(error, "EEXIST")) {
      return "present";
    }
    throw error;
  }
}

function fileFailure(error: unknown): unknown {
  if (hasCode(error, "EACCES", "EPERM", "EROFS")) {
    return new RepriseError(
      "database_readonly",
      "The database cannot be written; check the permissions of the file and its folder, then try again.",
      { cause: error },
    );
  }
  if (hasCode(error, "ENOTDIR", "EEXIST", "ENOENT", "ELOOP", "ENAMETOOLONG")) {
    return new RepriseError(
      "database_unavailable",
      "The database path cannot be used; name a file in a folder that exists or can be made with --database.",
      { cause: error },
    );
  }
  if (hasCode(error, "ENOSPC", "EDQUOT")) {
    return new RepriseError("database_full", "The disk is full; free some space and try again.", {
      cause: error,
    });
  }
  return error;
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    codes.includes(error.code)
  );
}
