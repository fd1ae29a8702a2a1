import { type BigIntStats, constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";

import { checkPath } from "./held-folder.ts";
import { refusal } from "./refusal.ts";

/** Bytes that are checked to recognise text, as git does. */
const SNIFFED_BYTES = 8000;

/** A place that was checked. */
export interface CheckedFile {
  /** The real path, to be opened without following a link. */
  readonly path: string;
  /** As it was when it was checked; null if nothing is there. */
  readonly stat: BigIntStats | null;
}

/**
 * Opens a checked place for reading. Only a regular file, and only the one that was checked: a link
 * or another file put in its place since is refused, and so is one that is reached through a folder
 * that was swapped for a link.
 */
export async function openFile(target: CheckedFile): Promise<FileHandle> {
  if (target.stat === null) {
    throw refusal("there is no such file; list_files or find_files shows what there is");
  }
  if (target.stat.isDirectory()) {
    throw refusal("this is a folder; list_files shows what is in it");
  }
  if (!target.stat.isFile()) {
    throw refusal("this is neither a file nor a folder; choose another");
  }
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(target.path, flags);
  const opened = await file.stat({ bigint: true });
  try {
    if (opened.ino !== target.stat.ino || opened.dev !== target.stat.dev) {
      throw refusal("the file changed while it was opened; try again");
    }
    await checkPath(file, target.path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

const CHUNK_BYTES = 64 * 1024;

/** The bytes of a file from a position on. It stays open, also if not all of them are read, unlike with a stream. */
export async function* chunksOf(file: FileHandle, start = 0): AsyncGenerator<Buffer> {
  for (let at = start; ;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) {
      return;
    }
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** True if the beginning holds a NUL byte, which text does not. */
export async function isBinary(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFFED_BYTES), 0, SNIFFED_BYTES, 0);
  return buffer.subarray(0, bytesRead).includes(0);
}
