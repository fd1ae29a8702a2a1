import { constants, lstatSync } from "node:fs";
import { open, realpath, type FileHandle } from "node:fs/promises";
import { sep } from "node:path";

import { systemCode } from "../../core/errors.ts";

/** Why a file of the repository cannot be used, for a sentence about it. */
export type Unusable = "missing" | "not_a_file" | "outside" | "unreadable";

export interface FileStart {
  /** The first bytes, at most as many as were asked for. */
  readonly bytes: Buffer;
  /** True if the file continues. */
  readonly cut: boolean;
}

/**
 * The beginning of a regular file. With `within`, the file must really lie in that folder, links
 * resolved: a repository is anybody's, and a link in it must not bring a private file to a model.
 */
export async function readStart(input: {
  readonly path: string;
  readonly within: string | null;
  readonly maxBytes: number;
}): Promise<FileStart | Unusable> {
  const { path, within, maxBytes } = input;
  try {
    // most folders have none of these files
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      return "missing";
    }
    const real = await realpath(path);
    if (within !== null && !real.startsWith((await realpath(within)) + sep)) {
      return "outside";
    }
    // a pipe would hold up the open for ever
    await using file = await open(
      real,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    if (!(await file.stat()).isFile()) {
      return "not_a_file";
    }
    return await readBytes(file, maxBytes);
  } catch (error) {
    return systemCode(error) === "ENOENT" ? "missing" : "unreadable";
  }
}

async function readBytes(file: FileHandle, maxBytes: number): Promise<FileStart> {
  const buffer = Buffer.allocUnsafe(maxBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) {
      break;
    }
    length += bytesRead;
  }
  return { bytes: buffer.subarray(0, Math.min(length, maxBytes)), cut: length > maxBytes };
}
