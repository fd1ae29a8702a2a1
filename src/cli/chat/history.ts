import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

import { systemCode } from "../../core/errors.ts";
import { readConceal, type Secrets } from "../../core/secrets.ts";

/** Entry that a person wrote, and whether a part of it was pasted. */
export interface HistoryEntry {
  readonly text: string;
  readonly pasted: boolean;
}

/** Entries that were written in a folder, by this and earlier runs. */
export interface History {
  /** The oldest first, at most 1,000. Empty until the file was read. */
  entries(): readonly HistoryEntry[];
  /** There at once; in the file soon. */
  add(entry: HistoryEntry): void;
  /** Resolves once everything is in the file, or could not be written. */
  written(): Promise<void>;
}

const MAX_ENTRIES = 1000;
/** Size of the file. */
const MAX_BYTES = 1024 * 1024;
/** Length of the entries in memory; one longer than that is remembered alone. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** A longer message is remembered until the program ends. */
const MAX_ENTRY_BYTES = 128 * 1024;
/** After this time the file of a trim belongs to a process that was killed. */
const STALE_MS = 60_000;

const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
const SAFE = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads the file and keeps it: lines of JSON, mode 0600. Several processes may add to it at the same time. Nothing of
 * it is needed, so whatever cannot be read or written is left out: a link, a file of another user or that others may
 * read, a damaged line, a full disk. A message that holds one of the secrets is not written.
 */
export function openHistory({
  file,
  secrets,
}: {
  /** Null: only what is added now is remembered. */
  readonly file: string | null;
  readonly secrets: Secrets;
}): History {
  let entries: readonly HistoryEntry[] = [];
  let last = quietly(async () => {
    const read = file === null ? [] : await readEntries(file);
    entries = limited([...read, ...entries]);
  });
  return {
    entries: () => entries,
    add: (entry) => {
      entries = limited([...entries, entry]);
      last = last.then(() =>
        quietly(async () => {
          if (file !== null && (await readConceal(secrets))(entry.text) === entry.text) {
            await append(file, entry);
          }
        }),
      );
    },
    written: () => last,
  };
}

/** Without its file it is a history of this run. */
async function quietly(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch {
    // nothing of it is needed
  }
}

/** The latest ones, without an entry that repeats the one before. */
function limited(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const latest = entries
    .filter(({ text }, index) => text !== entries[index - 1]?.text)
    .slice(-MAX_ENTRIES);
  let characters = 0;
  const last = latest.findLastIndex(({ text }) => {
    characters += text.length;
    return characters > MAX_CHARACTERS;
  });
  return latest.slice(Math.min(last + 1, latest.length - 1));
}

async function readEntries(file: string): Promise<readonly HistoryEntry[]> {
  const handle = await openOwn(file, constants.O_RDONLY);
  if (handle === null) {
    return [];
  }
  await using held = handle;
  const { text, size } = await readEnd(held);
  const lines = text.split("\n").filter((line) => line !== "");
  const entries = limited(lines.flatMap(entryOf));
  if (size > MAX_BYTES || lines.length > MAX_ENTRIES) {
    await quietly(() => trim(file, { handle: held, size, entries }));
  }
  return entries;
}

/** The last mebibyte, from the beginning of a line. */
async function readEnd(handle: FileHandle): Promise<{ text: string; size: number }> {
  const { size } = await handle.stat();
  const from = Math.max(0, size - MAX_BYTES);
  const bytes = await bytesFrom(handle, from, size);
  const text = bytes.toString("utf8");
  return { text: from === 0 ? text : text.slice(text.indexOf("\n") + 1), size };
}

async function bytesFrom(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, to - from));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from);
  return buffer.subarray(0, bytesRead);
}

function entryOf(line: string): readonly HistoryEntry[] {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || !("text" in value)) {
      return [];
    }
    const { text } = value;
    // a line that does not say so may have been pasted
    const pasted = !("pasted" in value) || value.pasted !== false;
    return typeof text === "string" && text !== "" ? [{ text, pasted }] : [];
  } catch {
    return [];
  }
}

/**
 * Writes once at the end of the file. The line feed before it ends a line that another process could not finish. If
 * the file was replaced meanwhile, the entry is written into the new one: twice is better than not at all.
 */
async function append(file: string, entry: HistoryEntry): Promise<void> {
  const line = Buffer.from(`\n${JSON.stringify(entry)}\n`);
  if (line.length > MAX_ENTRY_BYTES) {
    return;
  }
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const handle = await openOwn(file, APPEND);
    if (handle === null) {
      return;
    }
    await using held = handle;
    await held.write(line);
    if (await isAt(file, held)) {
      return;
    }
  }
}

/** Whether the path still leads to what is open. */
async function isAt(file: string, handle: FileHandle): Promise<boolean> {
  const [opened, now] = [await handle.stat(), await lstat(file).catch(() => null)];
  return now?.ino === opened.ino && now.dev === opened.dev;
}

/**
 * Replaces the file at once by one with these entries. The name of the new file is the lock between trims. What other
 * processes appended to the old file since it was read is appended to the new one.
 */
async function trim(
  file: string,
  old: {
    readonly handle: FileHandle;
    /** Bytes that were read of the old file. */
    readonly size: number;
    readonly entries: readonly HistoryEntry[];
  },
): Promise<void> {
  const temporary = `${file}.new`;
  const handle = await openNew(temporary);
  if (handle === null) {
    return;
  }
  await using held = handle;
  try {
    if (!(await isAt(file, old.handle))) {
      // another process has trimmed it since it was read
      await rm(temporary, { force: true });
      return;
    }
    await held.write(Buffer.from(halfOf(old.entries).map(lineOf).join("")));
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const { size } = await old.handle.stat();
  await held.write(await bytesFrom(old.handle, old.size, size));
}

/** Null while another process holds it. One that was left by a killed process is removed, for the next trim. */
async function openNew(temporary: string): Promise<FileHandle | null> {
  try {
    return await open(temporary, APPEND | constants.O_EXCL | SAFE, 0o600);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") {
      throw error;
    }
    const { mtimeMs } = await lstat(temporary);
    if (Date.now() - mtimeMs > STALE_MS) {
      await rm(temporary, { force: true });
    }
    return null;
  }
}

/** The latest entries, of half the limits: so that not each start trims. */
function halfOf(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  let bytes = 0;
  const latest = entries.slice(-MAX_ENTRIES / 2).reverse();
  const first = latest.findIndex((entry) => {
    bytes += Buffer.byteLength(lineOf(entry));
    return bytes > MAX_BYTES / 2;
  });
  return latest.slice(0, first < 0 ? undefined : first).reverse();
}

function lineOf(entry: HistoryEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Null for anything but a file of this user that nobody else can read or write. */
async function openOwn(file: string, flags: number): Promise<FileHandle | null> {
  const handle = await open(file, flags | SAFE, 0o600);
  const found = await handle.stat();
  const isOwn = process.geteuid === undefined || found.uid === process.geteuid();
  if (found.isFile() && isOwn && (found.mode & 0o077) === 0) {
    return handle;
  }
  await handle.close();
  return null;
}
