import { lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";

import { systemCode } from "../../../core/errors.ts";

/** Entry at a path, without the bytes of a file. */
export interface Seen {
  readonly kind: "file" | "link" | "folder";
  readonly mode: number;
  /** Bytes. */
  readonly size: number;
  /** Target of a link. */
  readonly target: string | null;
  /** Another text, if anything about it is another. */
  readonly state: string;
  /** When it was last changed, as milliseconds since 1970. */
  readonly changedMs: number;
}

export interface Tree {
  /** By path below the root, with `/`. */
  readonly seen: ReadonlyMap<string, Seen>;
  /** Paths that cannot be recorded, with their states: pipes, sockets, names that are not UTF-8, unreadable folders. */
  readonly others: ReadonlyMap<string, string>;
  /** Paths that were left out although git was not asked about them. */
  readonly skipped: readonly string[];
  /** False if there is more than the limits allow. */
  readonly isWhole: boolean;
}

export interface WalkOptions {
  readonly isIgnored: (path: string) => boolean;
  /** Full paths that are left out. */
  readonly own: ReadonlySet<string>;
  /** False if git was not asked: `node_modules` are left out then. */
  readonly knowsIgnored: boolean;
  readonly limits: WalkLimits;
}

export interface WalkLimits {
  readonly files: number;
  readonly bytes: number;
}

/** Names that cannot be given back to the system as text. */
const UNREADABLE = "\uFFFD";
/** Entries after which others get a turn. */
const AT_ONCE = 500;

/**
 * Finds all that is below a folder, except what is ignored and every `.git`. Follows no link. The calls of the system
 * are synchronous, some at a time: for thousands of files that takes a fifth of the time.
 */
export async function walkTree(root: string, options: WalkOptions): Promise<Tree> {
  const { isIgnored, own, limits } = options;
  const seen = new Map<string, Seen>();
  const others = new Map<string, string>();
  const skipped: string[] = [];
  let [files, bytes, entries] = [0, 0, 0];
  const waiting = [{ folder: "", skipsModules: !options.knowsIgnored }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { folder } = next;
    const names = namesIn(join(root, folder));
    if (names === null) {
      others.set(folder === "" ? "." : folder, "unreadable");
      continue;
    }
    // git does not look into repositories inside of others
    const skipsModules = next.skipsModules || (folder !== "" && names.includes(".git"));
    if (names.some((name) => name.includes(UNREADABLE))) {
      addUnreadable(others, root, folder);
    }
    for (const name of names) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (isGitFolder(name) || name.includes(UNREADABLE) || own.has(join(root, path))) {
        continue;
      }
      if (isIgnored(path)) {
        continue;
      }
      if (skipsModules && name === "node_modules") {
        skipped.push(path);
        continue;
      }
      const found = lookAt(join(root, path));
      entries += 1;
      if (entries % AT_ONCE === 0) {
        await breathe();
      }
      if (typeof found === "string") {
        others.set(path, found);
      } else if (found !== null) {
        seen.set(path, found);
        if (found.kind === "folder") {
          waiting.push({ folder: path, skipsModules });
        } else {
          files += 1;
          bytes += found.kind === "file" ? found.size : 0;
        }
      }
      if (files > limits.files || bytes > limits.bytes || entries > 2 * limits.files) {
        return { seen, others, skipped, isWhole: false };
      }
    }
  }
  return { seen, others, skipped, isWhole: true };
}

/** Reads what is at these paths, without those of which a folder is missing or a link. */
export function lookAtPaths(root: string, paths: Iterable<string>): Tree {
  const seen = new Map<string, Seen>();
  const others = new Map<string, string>();
  const folders = new Map<string, boolean>([[".", true]]);
  const isFolder = (path: string): boolean => {
    const known = folders.get(path);
    if (known !== undefined) {
      return known;
    }
    const found = isFolder(dirname(path)) ? lookAt(join(root, path)) : null;
    const is = found !== null && typeof found !== "string" && found.kind === "folder";
    folders.set(path, is);
    return is;
  };
  for (const path of paths) {
    const found = isFolder(dirname(path)) ? lookAt(join(root, path)) : null;
    if (typeof found === "string") {
      others.set(path, found);
    } else if (found !== null) {
      seen.set(path, found);
    }
  }
  return { seen, others, skipped: [], isWhole: false };
}

/** A text for what cannot be recorded; null if nothing is there. */
function lookAt(path: string): Seen | string | null {
  try {
    const stat = lstatSync(path);
    const target = stat.isSymbolicLink() ? readlinkSync(path) : null;
    if (target?.includes(UNREADABLE) === true) {
      return stateOf(stat);
    }
    const kind = kindOf(stat);
    return kind === null
      ? stateOf(stat)
      : {
          kind,
          mode: stat.mode & 0o7777,
          size: stat.size,
          target,
          state: stateOf(stat),
          changedMs: stat.ctimeMs,
        };
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) {
      return null;
    }
    return "unreadable";
  }
}

/** Describes the state of an entry. For a folder, its content has no effect on it. */
export function stateOf(stat: Stats): string {
  const { dev, ino, size, mode, mtimeMs, ctimeMs } = stat;
  return stat.isDirectory()
    ? `folder ${mode}`
    : `${dev}:${ino}:${size}:${mode}:${mtimeMs}:${ctimeMs}`;
}

function kindOf(stat: Stats): Seen["kind"] | null {
  if (stat.isFile()) {
    return "file";
  }
  return stat.isDirectory() ? "folder" : stat.isSymbolicLink() ? "link" : null;
}

function isGitFolder(name: string): boolean {
  return name.toLowerCase() === ".git";
}

/** Null for a folder that cannot be read. */
function namesIn(folder: string): string[] | null {
  try {
    return readdirSync(folder);
  } catch (error) {
    return systemCode(error) === "ENOENT" ? [] : null;
  }
}

/** Several names can look the same. */
function addUnreadable(others: Map<string, string>, root: string, folder: string): void {
  for (const raw of readdirSync(join(root, folder), { encoding: "buffer" })) {
    const name = raw.toString();
    if (name.includes(UNREADABLE)) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const state = stateOf(lstatSync(Buffer.concat([Buffer.from(`${join(root, folder)}/`), raw])));
      others.set(path, `${others.get(path) ?? ""} ${state}`);
    }
  }
}
