import { CONTROL_FILES } from "../../core/control-file-table.ts";
import type { Dirent, Stats } from "node:fs";
import { lstat, readdir, readFile, readlink, realpath } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";

import {
  canHoldControlFile,
  controlFileIn,
  hasUsualControlName,
  isGit,
} from "../../core/control-files.ts";
import { isInside } from "../../exchange/files/real-path.ts";

/** Something in a folder that other programs execute or obey. */
export interface ControlPlace {
  readonly kind: "file" | "folder" | "link";
  /** Of the entry on the disk: another one under the same name has another text. */
  readonly identity: string;
  /** What a link says that it leads to. */
  readonly target: string | null;
  readonly reason: string;
  /** What has to go if it may not be there. */
  readonly source: string;
}

/** All of them, by path. */
export interface ControlPlaces {
  readonly places: ReadonlyMap<string, ControlPlace>;
  /** False if the folder has more than is searched. */
  readonly isComplete: boolean;
}

const SEARCH = {
  maxEntries: 200_000,
  /** Below one control folder, for links only. */
  maxBelow: 20_000,
  maxConfig: 64 * 1024,
  /** Folders that are read at the same time. */
  together: 32,
} as const;

/** Packages of others: the user runs what is in there, and package managers write it. */
const NOT_SEARCHED = "node_modules";

/**
 * Finds them at every depth of a folder, except in `node_modules`: names that `CONTROL_FILES` has, in any
 * spelling, where links of such names lead, repositories without a `.git`, and what git's own files name.
 * `root` is a real path. Follows no link. Where places lead to counts only for those that `leadsOn` is true
 * for.
 */
export async function findControlPlaces(
  root: string,
  leadsOn: (path: string, place: ControlPlace) => boolean = () => true,
): Promise<ControlPlaces> {
  const found = new Map<string, ControlPlace>();
  if (controlFileIn(root.split(sep)) !== null) {
    await add(found, root, "it is below a folder that directs other programs");
    return { places: found, isComplete: true };
  }
  let left = SEARCH.maxEntries;
  let level = [root];
  while (level.length > 0 && left > 0) {
    const next: string[] = [];
    for (let at = 0; at < level.length && left > 0; at += SEARCH.together) {
      const folders = level.slice(at, at + SEARCH.together);
      const lists = await Promise.all(folders.map(entriesOf));
      for (const [index, entries] of lists.entries()) {
        left -= entries.length;
        next.push(...(await searchFolder(found, folders[index] ?? root, entries)));
      }
    }
    level = next;
  }
  await addReferred(found, root, leadsOn);
  return { places: found, isComplete: left > 0 };
}

/** Adds what is in one folder, and returns the folders to search next. */
async function searchFolder(
  found: Map<string, ControlPlace>,
  folder: string,
  entries: readonly Dirent[],
): Promise<string[]> {
  const next: string[] = [];
  const head = repositoryHead(entries);
  if (head !== null) {
    await add(found, folder, GIT_REASON, join(folder, head));
    return next;
  }
  const above = folder.slice(folder.lastIndexOf(sep) + 1);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const reason = reasonFor(above, entry);
    if (reason !== null) {
      await add(found, path, reason);
    } else if (entry.isDirectory() && isUnreadable(entry.name)) {
      const identity = entry.name;
      found.set(path, { kind: "folder", identity, target: null, reason: NO_TEXT, source: path });
    } else if (entry.isDirectory() && entry.name !== NOT_SEARCHED) {
      next.push(path);
    }
  }
  return next;
}

const NO_TEXT = "its name is not UTF-8, so it cannot be searched";

/** True for a name that cannot be given back to the system as text. */
export function isUnreadable(path: string): boolean {
  return path.includes("\uFFFD");
}

const GIT_REASON = CONTROL_FILES.find(({ name }) => name === ".git")?.reason ?? "";

function reasonFor(above: string, entry: Dirent): string | null {
  const { name } = entry;
  const isPlain = /^[\w.@+-]*[\w@+-]$/.test(name);
  if (isPlain && !entry.isSymbolicLink() && !hasUsualControlName(name)) {
    return null;
  }
  const control = controlFileIn([above, name]);
  if (control !== null) {
    return control.reason;
  }
  return entry.isSymbolicLink() && canHoldControlFile([above, name])
    ? "other programs look for files that direct them below this name"
    : null;
}

/** Git takes a folder with these for a repository, whatever it is called; without its HEAD it does not. */
function repositoryHead(entries: readonly Dirent[]): string | null {
  const head = entries.find(({ name }) => name.toLowerCase() === "head")?.name ?? null;
  const has = (wanted: string) => entries.some(({ name }) => name.toLowerCase() === wanted);
  return head !== null && (has("commondir") || (has("objects") && has("refs"))) ? head : null;
}

/** Adds what the places found so far lead to inside the folder, and what that leads to. */
async function addReferred(
  found: Map<string, ControlPlace>,
  root: string,
  leadsOn: (path: string, place: ControlPlace) => boolean,
): Promise<void> {
  // a map yields what is added to it meanwhile
  for (const [path, place] of found) {
    const targets = leadsOn(path, place) ? await referredBy(path, place) : [];
    for (const target of targets) {
      const real = await realpath(target).catch(() => null);
      const inner = real !== null && isInside(real, root) ? root : real;
      if (inner !== null && isInside(root, inner) && !isBelow(found, inner)) {
        await add(found, inner, place.reason);
      }
    }
  }
}

function isBelow(found: ReadonlyMap<string, ControlPlace>, path: string): boolean {
  for (let each = path; ; each = dirname(each)) {
    if (found.get(each)?.kind === "folder" || found.has(path)) {
      return true;
    }
    if (dirname(each) === each) {
      return false;
    }
  }
}

async function referredBy(path: string, { kind, target }: ControlPlace): Promise<string[]> {
  if (kind === "link") {
    return [resolve(dirname(path), target ?? "")];
  }
  const isOfGit = isGit(path.split(sep));
  if (kind === "file") {
    return isOfGit ? gitFolderNamedBy(path) : [];
  }
  return [...(await linksBelow(path)), ...(await namedByGit(path))];
}

/** A worktree and a submodule have a file `.git` that names their git folder. */
async function gitFolderNamedBy(path: string): Promise<string[]> {
  const [, named] = /^gitdir:\s*(.+?)\s*$/m.exec(await beginning(path)) ?? [];
  return named === undefined ? [] : [resolve(dirname(path), named)];
}

/** The shared folder of a worktree's git folder, the hooks and the files that its configuration names. */
async function namedByGit(folder: string): Promise<string[]> {
  const common = (await beginning(join(folder, "commondir"))).trim();
  const configs = await Promise.all(
    ["config", "config.worktree"].map((name) => beginning(join(folder, name))),
  );
  const values = configs.flatMap((text) => [
    ...text.matchAll(/^\s*(hookspath|path)\s*=\s*"?(.+?)"?\s*$/gim),
  ]);
  return [
    ...(common === "" ? [] : [resolve(folder, common)]),
    ...values.map(([, key = "", value = ""]) =>
      resolve(key.toLowerCase() === "path" ? folder : dirname(folder), value),
    ),
  ];
}

/** Of objects git checks the content. */
async function linksBelow(top: string): Promise<string[]> {
  const links: string[] = [];
  let left: number = SEARCH.maxBelow;
  const folders = [top];
  for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
    for (const entry of await entriesOf(folder)) {
      left -= 1;
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) {
        links.push(path);
      } else if (entry.isDirectory() && entry.name !== "objects") {
        folders.push(path);
      }
    }
  }
  return links;
}

async function add(
  found: Map<string, ControlPlace>,
  path: string,
  reason: string,
  source = path,
): Promise<void> {
  const stat = await lstat(path).catch(() => null);
  if (stat !== null) {
    const target = stat.isSymbolicLink() ? await readlink(path).catch(() => "") : null;
    found.set(path, {
      kind: kindOf(stat),
      identity: identityOf(stat, target),
      target,
      reason,
      source,
    });
  }
}

function kindOf(stat: Stats): ControlPlace["kind"] {
  return stat.isSymbolicLink() ? "link" : stat.isDirectory() ? "folder" : "file";
}

function identityOf({ dev, ino }: Stats, target: string | null): string {
  return target === null ? `${dev}:${ino}` : `link ${target}`;
}

/** Empty for what cannot be read: no program of the user reads it either. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

async function beginning(path: string): Promise<string> {
  const stat = await lstat(path).catch(() => null);
  return stat?.isFile() === true && stat.size <= SEARCH.maxConfig
    ? readFile(path, "utf8").catch(() => "")
    : "";
}
