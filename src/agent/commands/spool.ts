import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { outputName } from "../../exchange/undo/forget-sessions.ts";

/** Whole outputs of commands: files of the user alone, in Reprise's own folder. */
export interface Spool {
  /** A file for one output; null if none can be made. */
  create(): Promise<SpoolFile | null>;
  /** Opens the output of this name; null for another text, and if it is not there any more. */
  open(name: string): Promise<FileHandle | null>;
}

export interface SpoolFile {
  /** What `read_file` takes as a path. */
  readonly name: string;
  /** False if it cannot be written, because the disk is full or broken: then it is removed. */
  append(chunk: Buffer): Promise<boolean>;
  close(): Promise<void>;
}

/** How long outputs are kept, and how many bytes in all: the oldest ones go first. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const KEPT_BYTES = 512 * 1024 * 1024;

const PREFIX = "command-output:";
const NAME = /^command-output:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The outputs of one session. The folder is made when it is needed. */
export function createSpool(folder: string, session_id: string): Spool {
  const fileOf = (id: string): string => join(folder, outputName(session_id, id));
  return {
    create: async () => {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await removeOld(folder);
        const id = randomUUID();
        const path = fileOf(id);
        const file = await open(path, "wx", 0o600);
        return {
          name: PREFIX + id,
          append: async (chunk) => {
            try {
              await file.appendFile(chunk);
              return true;
            } catch {
              await rm(path, { force: true });
              return false;
            }
          },
          close: () => file.close(),
        };
      } catch {
        return null;
      }
    },
    open: async (name) => {
      const [, id] = NAME.exec(name) ?? [];
      return id === undefined
        ? null
        : open(fileOf(id), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
    },
  };
}

async function removeOld(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".txt"));
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const found = await lstat(path).catch(() => null);
      return found === null ? [] : [{ path, size: found.size, at: found.mtimeMs }];
    }),
  );
  let bytes = 0;
  for (const { path, size, at } of files.flat().sort((a, b) => b.at - a.at)) {
    bytes += size;
    if (bytes > KEPT_BYTES || at < Date.now() - KEPT_MS) {
      await rm(path, { force: true });
    }
  }
}
