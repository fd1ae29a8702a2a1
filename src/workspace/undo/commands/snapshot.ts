import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Entry } from "../../../core/files/file-entries.ts";
import { hashOf, syncFolder } from "../kept-bytes.ts";
import { findIgnoredStates } from "./ignored-states.ts";
import { listIgnored } from "./ignored-paths.ts";
import { readFiles } from "./read-files.ts";
import { lookAtPaths, type Seen, type Tree, walkTree, type WalkLimits } from "./walk-tree.ts";

/** Entry at a path before a command. */
export interface Recorded {
  readonly path: string;
  readonly entry: Entry;
  /** As of `Seen`. */
  readonly state: string;
  readonly changedMs: number;
  /** Where the bytes of a file begin in the pack; null if they are not there. */
  readonly at: number | null;
}

/** A folder before a command, as it is stored. */
export interface Snapshot {
  readonly root: string;
  /** The name of the file that has the bytes of all files. */
  readonly pack: string;
  readonly packed: number;
  /** When it was begun, as milliseconds since 1970. */
  readonly takenMs: number;
  readonly recorded: readonly Recorded[];
  /** Pairs of a path and its state. */
  readonly others: readonly (readonly [string, string])[];
  readonly ignored: readonly (readonly [string, string])[];
  /** False if only files are recorded that the session had changed before. */
  readonly isWhole: boolean;
}

/** Limits of what is recorded of a folder. */
export const SNAPSHOT_LIMITS: WalkLimits = { files: 20_000, bytes: 256 * 1024 * 1024 };

/** Files that were changed so shortly before can be changed again without another time. */
const TICK_MS = 50;
/** Unused bytes of a pack before a new one is written. */
const UNUSED = 16 * 1024 * 1024;
const STORED = "snapshot.json";
const WHOLE_PACK = /^pack-[0-9a-f-]{36}$/;

export interface SnapshotOptions {
  /** The real path of the folder. */
  readonly root: string;
  /** Full paths that are left out. */
  readonly own: ReadonlySet<string>;
  /** Where the snapshot is kept; nothing else is there. */
  readonly at: string;
  readonly limits: WalkLimits;
  /** Paths that the session has changed before. */
  readonly touched: () => Promise<readonly string[]>;
}

/**
 * Records a folder, with the bytes of its files, in `at`, on the disk. Bytes that the last snapshot has are not read
 * again. Rejects with the error of the system if it cannot be written.
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { root, at } = options;
  const takenMs = Date.now();
  await mkdir(at, { recursive: true, mode: 0o700 });
  const [last, listed] = await Promise.all([readSnapshot(at), listIgnored(root, at)]);
  const walked = await walkTree(root, {
    isIgnored: isIn(listed ?? []),
    own: options.own,
    knowsIgnored: listed !== null,
    limits: options.limits,
  });
  const tree = walked.isWhole ? walked : lookAtPaths(root, await options.touched());
  const ignored = walked.isWhole
    ? findIgnoredStates(root, [...(listed ?? []), ...walked.skipped])
    : [];
  const usable = last?.root === root ? last : null;
  const { isAsBefore, ...packed } = await packFiles(options, tree, usable);
  const rest = { others: [...tree.others], ignored, isWhole: walked.isWhole };
  if (isAsBefore && usable !== null && hasSame(usable, rest)) {
    return usable;
  }
  const snapshot: Snapshot = { ...packed, ...rest, root, takenMs };
  await writeDurably(at, STORED, JSON.stringify(snapshot));
  for (const name of await readdir(at)) {
    if (WHOLE_PACK.test(name) && name !== snapshot.pack) {
      await rm(join(at, name), { force: true });
    }
  }
  return snapshot;
}

function hasSame(last: Snapshot, rest: Pick<Snapshot, "others" | "ignored" | "isWhole">): boolean {
  const { others, ignored, isWhole } = last;
  return JSON.stringify(rest) === JSON.stringify({ others, ignored, isWhole });
}

export function isIn(paths: Iterable<string>): (path: string) => boolean {
  const set = new Set(paths);
  return (path) => set.has(path);
}

/** Null if there is none that is whole. */
export async function readSnapshot(at: string): Promise<Snapshot | null> {
  try {
    return JSON.parse(await readFile(join(at, STORED), "utf8"));
  } catch {
    return null;
  }
}

/** The bytes of a recorded file; null if they are lost. */
export async function readPacked(
  at: string,
  { pack }: Pick<Snapshot, "pack">,
  { entry, at: offset }: Pick<Recorded, "entry" | "at">,
): Promise<Buffer | null> {
  if (entry.kind !== "file" || offset === null) {
    return null;
  }
  const file = await open(join(at, pack), "r").catch(() => null);
  if (file === null) {
    return null;
  }
  try {
    const bytes = Buffer.alloc(entry.size);
    await file.read(bytes, 0, entry.size, offset);
    return hashOf(bytes) === entry.hash ? bytes : null;
  } finally {
    await file.close();
  }
}

/** Adds the bytes of files that are not in the pack of the last snapshot. */
async function packFiles(
  { root, at, limits }: SnapshotOptions,
  { seen }: Tree,
  last: Snapshot | null,
): Promise<Pick<Snapshot, "pack" | "packed" | "recorded"> & { readonly isAsBefore: boolean }> {
  const sizes = [...seen.values()].map(({ kind, size }) => (kind === "file" ? size : 0));
  const live = sizes.reduce((sum, size) => sum + size, 0);
  const usable = last !== null && last.packed <= live + UNUSED ? last : null;
  const before = new Map(usable?.recorded.map((each) => [each.path, each]));
  const known = (path: string, { state }: Seen): Recorded | null => {
    const found = before.get(path);
    if (found?.state !== state) {
      return null;
    }
    const isSure = found.at !== null && found.changedMs < (usable?.takenMs ?? 0) - TICK_MS;
    return isSure || found.entry.kind !== "file" ? found : null;
  };
  const recorded = new Map<string, Recorded>();
  const missing: string[] = [];
  let hits = 0;
  for (const [path, one] of seen) {
    const cached = known(path, one);
    if (cached !== null) {
      hits += 1;
      recorded.set(path, cached);
    } else if (one.kind === "file") {
      missing.push(path);
    } else {
      const { state, changedMs } = one;
      recorded.set(path, { path, entry: entryOf(one), state, changedMs, at: null });
    }
  }
  const pack = usable?.pack ?? `pack-${randomUUID()}`;
  let packed = usable?.packed ?? 0;
  if (missing.length > 0 || usable === null) {
    const file = await open(join(at, pack), usable === null ? "wx" : "r+", 0o600);
    try {
      for await (const { path, entry, bytes, state } of readFiles(root, missing, limits.bytes)) {
        const changedMs = seen.get(path)?.changedMs ?? 0;
        const offset = bytes === null ? null : packed;
        recorded.set(path, { path, entry, state, changedMs, at: offset });
        if (bytes !== null) {
          await file.write(bytes, 0, bytes.byteLength, packed);
          packed += bytes.byteLength;
        }
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }
  const isAsBefore = hits === recorded.size && hits === usable?.recorded.length;
  return { pack, packed, recorded: [...recorded.values()], isAsBefore };
}

/** Makes the entry of what is not a file. */
export function entryOf({ kind, mode, target }: Seen): Entry {
  return kind === "link" ? { kind, target: target ?? "" } : { kind: "folder", mode };
}

/** A reader and a crash see all of it or nothing. */
export async function writeDurably(at: string, name: string, text: string): Promise<void> {
  const temporary = join(at, `.${randomUUID()}.tmp`);
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, join(at, name));
  await syncFolder(at);
}
