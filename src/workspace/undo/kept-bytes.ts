import { createHash, randomUUID } from "node:crypto";
import {
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";

import { systemCode } from "../../core/errors.ts";
import { isUuid } from "../../core/ids.ts";

/** Bytes that are kept at most; the oldest are deleted first. */
export const KEPT_LIMITS = { session: 256 * 1024 * 1024, all: 2 * 1024 * 1024 * 1024 } as const;

export interface KeptLimits {
  readonly session: number;
  readonly all: number;
}

/**
 * The bytes of files that tools changed, below one folder of this machine: `<session>/<SHA-256>`, for their owner
 * alone. They are synchronised to the disk before `keep` returns, so a row that names them finds them after a crash.
 */
export interface KeptBytes {
  readonly limits: KeptLimits;
  readonly folder: string;
  /** The folder for what is recorded before a command of a session. It counts for the limit of all. */
  commandFolder(session_id: string): string;
  /** Names the folder, on whatever machine it is mounted. */
  place(): Promise<string>;
  /** Returns the hash by which the bytes are found again. */
  keep(session_id: string, bytes: Uint8Array): Promise<string>;
  /** Null if they were deleted, are damaged or cannot be read. */
  read(session_id: string, hash: string): Promise<Buffer | null>;
  /** Deletes all that is kept of these sessions. False if the system refused some of it. */
  forget(session_ids: readonly string[]): Promise<boolean>;
  /** Counts what is kept now. */
  usage(): Promise<{ readonly bytes: number; readonly sessions: number }>;
}

/** Files of the folder that are not of a session. */
const PLACE = "place";
/** A folder in that of a session. */
const COMMAND = "command";

export function createKeptBytes(folder: string, limits: KeptLimits = KEPT_LIMITS): KeptBytes {
  /** Bytes that were added since the sizes were last read. */
  let added = Number.POSITIVE_INFINITY;

  const keep = async (session_id: string, bytes: Uint8Array): Promise<string> => {
    const hash = hashOf(bytes);
    const at = join(folder, session_id);
    const path = join(at, hash);
    if (await isKept(path, hash)) {
      return hash;
    }
    await mkdir(at, { recursive: true, mode: 0o700 });
    await writeDurably(at, hash, bytes);
    added += bytes.byteLength;
    // the sizes of all that is kept are read seldom: it costs a call of the system for each file
    if (added > Math.min(limits.session, limits.all) / 16) {
      await makeRoom(session_id);
      added = 0;
    }
    return hash;
  };

  const makeRoom = async (session_id: string): Promise<void> => {
    const files = await keptFiles(folder);
    const own = files.filter((file) => file.session_id === session_id && !file.isOfCommand);
    const gone = await deleteOldest(own, limits.session);
    await deleteOldest(
      files.filter((file) => !gone.has(file)),
      limits.all,
    );
  };

  return {
    limits,
    folder,
    commandFolder: (session_id) => join(folder, session_id, COMMAND),
    place: () => placeOf(folder),
    keep,
    read: async (session_id, hash) => {
      const bytes = await readFile(join(folder, session_id, hash)).catch(nullOfSystem);
      return bytes !== null && hashOf(bytes) === hash ? bytes : null;
    },
    forget: async (session_ids) => {
      let isGone = true;
      for (const id of session_ids.filter(isUuid)) {
        const at = join(folder, id);
        const done = await rm(at, { recursive: true, force: true }).catch(nullOfSystem);
        isGone &&= done !== null;
      }
      return isGone;
    },
    usage: async () => {
      const files = await keptFiles(folder);
      return {
        bytes: files.reduce((sum, { size }) => sum + size, 0),
        sessions: new Set(files.map(({ session_id }) => session_id)).size,
      };
    },
  };
}

/** Null if there is no such folder. */
export function keptBytesIn(folder: string | null | undefined): KeptBytes | null {
  return typeof folder === "string" ? createKeptBytes(folder) : null;
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Checks whether bytes are kept. What was kept before and is kept again is among the newest. */
async function isKept(path: string, hash: string): Promise<boolean> {
  const bytes = await readFile(path).catch(nullIfMissing);
  if (bytes === null || hashOf(bytes) !== hash) {
    return false;
  }
  const now = new Date();
  await utimes(path, now, now);
  return true;
}

/** A reader and a crash see all of the file or none of it. */
async function writeDurably(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(folder, `.${randomUUID()}.tmp`);
  try {
    // a library that is imported by an older Node.js must be readable for it, so no `using` here
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(folder, name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** So that a name that was given or taken is still so after the machine has crashed. */
export async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/** The id is made once, also if two processes begin together. */
async function placeOf(folder: string): Promise<string> {
  const path = join(folder, PLACE);
  const known = await readFile(path, "utf8").catch(nullIfMissing);
  if (known !== null && isUuid(known)) {
    return known;
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (known !== null) {
    await rm(path, { force: true });
  }
  const temporary = join(folder, `.${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, randomUUID(), { flag: "wx", mode: 0o600 });
    await link(temporary, path);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") {
      throw error;
    }
  } finally {
    await rm(temporary, { force: true });
  }
  return readFile(path, "utf8");
}

interface KeptFile {
  readonly session_id: string;
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** True for what can be recorded again before the next command. */
  readonly isOfCommand: boolean;
}

async function keptFiles(folder: string): Promise<KeptFile[]> {
  const files: KeptFile[] = [];
  const sessions = (await readdir(folder).catch(nullIfMissing)) ?? [];
  for (const session_id of sessions.filter(isUuid)) {
    const at = join(folder, session_id);
    for (const [of, isOfCommand] of [
      [at, false],
      [join(at, COMMAND), true],
    ] as const) {
      for (const name of (await readdir(of).catch(() => null)) ?? []) {
        const path = join(of, name);
        const found = await stat(path).catch(nullIfMissing);
        if (found?.isFile() === true) {
          const { size, mtimeMs } = found;
          files.push({ session_id, path, size, mtimeMs, isOfCommand });
        }
      }
    }
  }
  return files;
}

/** Deletes files, the oldest first, until those that are left are within the limit. */
async function deleteOldest(
  files: readonly KeptFile[],
  limit: number,
): Promise<ReadonlySet<KeptFile>> {
  let left = files.reduce((sum, { size }) => sum + size, 0);
  const gone = new Set<KeptFile>();
  for (const file of files.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (left <= limit) {
      break;
    }
    await rm(file.path, { force: true });
    left -= file.size;
    gone.add(file);
  }
  return gone;
}

function nullIfMissing(error: unknown): null {
  if (systemCode(error) === "ENOENT") {
    return null;
  }
  throw error;
}

function nullOfSystem(error: unknown): null {
  if (systemCode(error) === undefined) {
    throw error;
  }
  return null;
}
