import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { userInfo } from "node:os";

import { RepriseError, systemCode } from "../../core/errors.ts";
import { oneLine } from "../../core/text/terminal-text.ts";

/** The text of a config file, without the mark of its encoding. */
export interface ConfigText {
  readonly text: string;
  /** Changes with the file. */
  readonly stamp: string;
  /** Its permission bits and owner, for the file that replaces it. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly hasMark: boolean;
}

/** Far more than a person writes. */
export const MAX_CONFIG_BYTES = 256 * 1024;

/**
 * The user's config file; null if there is none. It may be a link, as in a repository of a user's settings.
 * A file that others may write is not believed: it decides what the agent may do.
 *
 * Error codes: `config_invalid`.
 */
export async function readConfigText(path: string): Promise<ConfigText | null> {
  try {
    // a pipe would hold up the open for ever
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await file.stat({ bigint: true });
    if (!found.isFile()) {
      throw unusable(path, "is not a file; replace it by one");
    }
    const [mode, uid, gid] = [Number(found.mode) & 0o7777, Number(found.uid), Number(found.gid)];
    if ((mode & 0o002) !== 0 || (uid !== userInfo().uid && uid !== 0)) {
      throw unusable(path, "belongs to another user or can be written by everybody; correct that");
    }
    if (found.size > BigInt(MAX_CONFIG_BYTES)) {
      throw unusable(path, `is larger than ${MAX_CONFIG_BYTES / 1024} KiB; shorten it`);
    }
    const bytes = await file.readFile();
    const text = textOf(bytes);
    if (text === null) {
      throw unusable(path, "is not UTF-8; save it in that encoding");
    }
    const stamp = [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(":");
    const hasMark = text.startsWith(MARK);
    return { text: hasMark ? text.slice(1) : text, stamp, mode, uid, gid, hasMark };
  } catch (error) {
    if (error instanceof RepriseError) {
      throw error;
    }
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "") && !(await isThere(path))) {
      return null;
    }
    throw unusable(path, "cannot be read; check its rights, and where it leads if it is a link");
  }
}

/** The byte order mark that some editors write. */
export const MARK = "\u{FEFF}";

function textOf(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** True for a link that leads nowhere, too: rules must not be lost in silence. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function unusable(path: string, what: string): RepriseError {
  return new RepriseError("config_invalid", `The config file ${oneLine(path)} ${what}.`);
}
