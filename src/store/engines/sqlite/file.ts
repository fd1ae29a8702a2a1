import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  statSync,
  statfsSync,
} from "node:fs";
import { dirname } from "node:path";

import { RepriseError, systemCode } from "../../../core/errors.ts";
import { quote } from "../../../core/text/terminal-text.ts";
import { corruptFile, UNWRITABLE } from "./failure.ts";
import { refuseForeignWal } from "./foreign-wal.ts";

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

/**
 * Bytes of the smallest page. SQLite takes a file of one byte for an empty one and writes over it.
 */
const MIN_DATABASE_BYTES = 512;

export type FoundFile = "missing" | "empty" | "present";

/**
 * Makes the folder (0700) if it does not exist and reports what is at the path. Refuses a network
 * file system, a folder that this user may not write to, and a log of another database. The file is
 * never opened here while this process has it open: closing a descriptor would drop SQLite's locks.
 *
 * Error codes: `database_network`, `database_readonly`, `database_unavailable`,
 * `database_corrupt`, `database_full`.
 */
export function prepareFile(path: string): FoundFile {
  try {
    const folder = dirname(path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = statSync(path, { throwIfNoEntry: false });
    refuseNetwork(found === undefined ? folder : path);
    // SQLite would say that it cannot open its side files, which helps nobody
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (found === undefined) {
      refuseForeignWal(path);
      return "missing";
    }
    if (!found.isFile()) {
      throw new RepriseError(
        "database_unavailable",
        `The database path ${quote(path)} is a folder or a device. Give the path of a file.`,
      );
    }
    accessSync(path, constants.R_OK | constants.W_OK);
    if (found.size > 0 && found.size < MIN_DATABASE_BYTES) {
      throw corruptFile();
    }
    refuseForeignWal(path);
    return found.size === 0 ? "empty" : "present";
  } catch (error) {
    throw fileFailure(error);
  }
}

/**
 * Makes the file (0600), for its user only. Belongs under the setup lock.
 *
 * Error codes: as above.
 */
export function makeFile(path: string): void {
  try {
    // not exclusive: the path may be a link to a file that is still to be made
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw fileFailure(error);
  }
}

function refuseNetwork(path: string): void {
  if (isNetworkFileSystem(Number(statfsSync(path, { bigint: true }).type))) {
    throw new RepriseError(
      "database_network",
      "The database would be on a network file system, where SQLite's locks do not hold; name a local file with --database, or use PostgreSQL.",
    );
  }
}

const PATH_CODES = [
  "ENOTDIR",
  "EEXIST",
  "ENOENT",
  "ELOOP",
  "ENAMETOOLONG",
  "ERR_INVALID_ARG_VALUE",
];

function fileFailure(error: unknown): unknown {
  const code = systemCode(error) ?? "";
  if (["EACCES", "EPERM", "EROFS"].includes(code)) {
    return new RepriseError(...UNWRITABLE, { cause: error });
  }
  if (PATH_CODES.includes(code)) {
    return new RepriseError(
      "database_unavailable",
      "The database path cannot be used; name a file in a folder that exists or can be made with --database.",
      { cause: error },
    );
  }
  if (["ENOSPC", "EDQUOT"].includes(code)) {
    return new RepriseError("database_full", "The disk is full; free some space and try again.", {
      cause: error,
    });
  }
  return error;
}
