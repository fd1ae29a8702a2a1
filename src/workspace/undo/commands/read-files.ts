import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { FileEntry } from "../../../core/files/file-entries.ts";
import { holdFolder } from "../../files/held-folder.ts";
import { hashOf } from "../kept-bytes.ts";
import { stateOf } from "./walk-tree.ts";

/** A file as it was read. */
export interface ReadFile {
  readonly path: string;
  readonly entry: FileEntry;
  /** Null if it could not be read, or changed meanwhile; its hash is null then, too. */
  readonly bytes: Buffer | null;
  /** As of `Seen`. */
  readonly state: string;
}

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads files below a folder, through no link, one after the other. Files that are not there any more are left out;
 * of what is more than `max` bytes together only the size is read.
 */
export async function* readFiles(
  root: string,
  paths: Iterable<string>,
  max: number,
): AsyncGenerator<ReadFile> {
  let left = max;
  const folders = Map.groupBy(paths, (path) => dirname(path));
  for (const [folder, files] of folders) {
    const held = await holdFolder(root, join(root, folder)).catch(() => null);
    if (held === null) {
      continue;
    }
    try {
      for (const path of files) {
        const read = readOne(join(held.at, basename(path)), left);
        if (read !== null) {
          left -= read.bytes?.byteLength ?? 0;
          yield { path, ...read };
        }
      }
    } finally {
      await held[Symbol.asyncDispose]();
    }
  }
}

/** Null for what is not a file any more. */
function readOne(path: string, max: number): Omit<ReadFile, "path"> | null {
  let opened: number;
  try {
    opened = openSync(path, FLAGS);
  } catch {
    return null;
  }
  try {
    const before = fstatSync(opened);
    if (!before.isFile()) {
      return null;
    }
    const bytes = before.size > max ? null : readFileSync(opened);
    const state = stateOf(fstatSync(opened));
    const isSteady = bytes !== null && state === stateOf(before) && bytes.length === before.size;
    const entry = { kind: "file", size: before.size, mode: before.mode & 0o7777 } as const;
    return isSteady
      ? { entry: { ...entry, hash: hashOf(bytes) }, bytes, state }
      : { entry: { ...entry, hash: null }, bytes: null, state };
  } catch {
    return null;
  } finally {
    closeSync(opened);
  }
}
