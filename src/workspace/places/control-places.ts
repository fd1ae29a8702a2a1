import { lstat, readFile, stat } from "node:fs/promises";
import { dirname, join, normalize, sep } from "node:path";

import { controlFileIn, isGit } from "../../core/files/control-files.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { isInside } from "../files/real-path.ts";
import { gitFolderIn, type GitUser, type Pointer, pointer } from "./ask-git.ts";
import { askAll, foldersAbove, pinnedFolders } from "./ask-repositories.ts";
import { EntrySearch, type Missed } from "./entry-search.ts";
import { type Before, type ControlPlace, type KnownPlaces, knownPlaces } from "./known-places.ts";
import { isMissing } from "./list-folder.ts";
import type { NamedPath } from "./named-by-git.ts";
import { trailOf } from "./trail.ts";

/** Places in a folder that other programs execute or obey. */
export interface ControlPlaces extends Before {
  /** Places that could not be searched: empty if everything was. */
  readonly missed: readonly Missed[];
}

/** Such places before a command. */
export interface PlacesBefore extends ControlPlaces {
  /** Folders that must keep their names, the outer ones first: paths of git's configuration lead out of them. */
  readonly pinned: readonly string[];
}

export interface SearchOptions {
  readonly user: GitUser;
  readonly maxEntries?: number;
}

const MAX_ENTRIES = 200_000;
const MAX_POINTER = 64 * 1024;

/**
 * Finds them at every depth of a folder, except in `node_modules`: names that `CONTROL_FILES` has, in any
 * spelling, where links of such names lead, repositories without a `.git`, and what git's configuration names, for
 * each repository in the folder or above it. `root` is a real path. A folder that cannot be listed is one of them.
 */
export async function findControlPlaces(
  root: string,
  { user, maxEntries = MAX_ENTRIES }: SearchOptions,
): Promise<PlacesBefore> {
  const search = new EntrySearch({ root, known: null, maxEntries });
  if (controlFileIn(root.split(sep)) !== null || (await isInRepository(root))) {
    await search.add(root, "it is below a folder that directs other programs");
    return { places: search.found, named: [], missed: search.missed, pinned: [] };
  }
  await search.walk();
  const named = search.missed.length > 0 ? [] : await askAll(search, { root, user });
  const followed = await follow(search, { root, named, known: null });
  await search.addOtherNames();
  const pinned = await pinnedFolders(root, [...named, ...followed]);
  return { places: search.found, named, missed: search.missed, pinned };
}

/**
 * Finds such places after a command has ended, without a limit, and without asking git again: its configuration could
 * not be changed. The owner of a folder that cannot be listed any more gets his rights back. Where something leads to
 * counts only for what was there before.
 */
export async function findPlacesAfter(root: string, before: Before): Promise<ControlPlaces> {
  const known = knownPlaces(root, before);
  const search = new EntrySearch({ root, known, maxEntries: Number.POSITIVE_INFINITY });
  if (before.places.get(root)?.kind === "folder") {
    // all of it was read-only
    return { ...before, missed: [] };
  }
  await search.walk();
  const named = [...before.named, ...renamed(search, known)];
  await follow(search, { root, named, known });
  return { places: search.found, named, missed: search.missed };
}

/** True below a repository without a `.git`: git can run anything in it. */
async function isInRepository(root: string): Promise<boolean> {
  const found = await Promise.all(
    foldersAbove(root).map(async (folder) => {
      const names = ["HEAD", "objects", "refs"].map((name) =>
        lstat(join(folder, name)).then(
          () => true,
          () => false,
        ),
      );
      return (await Promise.all(names)).every(Boolean);
    }),
  );
  return found.includes(true);
}

/**
 * Returns what git's configuration names for repositories whose folder the command has renamed. Outside of that,
 * something of the user's can be at the new path.
 */
function renamed(search: EntrySearch, known: KnownPlaces): NamedPath[] {
  return [...search.found].flatMap(([path, place]) => {
    const earlier = known.earlierPath(place);
    if (earlier === null || earlier === path || known.places.has(path)) {
      return [];
    }
    const [from, to] = [dirname(earlier), dirname(path)];
    return known.named.flatMap((each) => {
      const path = to + each.path.slice(from.length);
      return each.path.startsWith(`${from}/`) && isInside(to, normalize(path))
        ? [{ ...each, path }]
        : [];
    });
  });
}

interface Following {
  readonly root: string;
  readonly named: readonly NamedPath[];
  readonly known: KnownPlaces | null;
}

/**
 * Adds what git's configuration names, what the places found so far lead to, and what that leads to. Returns what the
 * places lead to.
 */
async function follow(search: EntrySearch, following: Following): Promise<readonly Pointer[]> {
  const followed: Pointer[] = [];
  for (const { path, key, counts } of following.named) {
    const isHooks = key === "core.hookspath";
    const reason = namedReason(key);
    await addTrail(search, following, { path, reason, counts, above: isHooks ? "root" : "none" });
  }
  // a map yields what is added to it meanwhile
  for (const [path, place] of search.found) {
    // the target of a new link directs nothing without it
    const isFollowed = following.known?.isNew(path, place) !== true;
    const targets = isFollowed ? await referredBy(search, path, place) : [];
    for (const target of targets) {
      followed.push(target);
      const { reason } = place;
      const leading = { path: target.path, reason, counts: "any", above: "all" } as const;
      await addTrail(search, following, leading);
    }
  }
  return followed;
}

/** Why a place counts that git's configuration names. */
export function namedReason(key: string): string {
  return `git's configuration names it (${oneLine(key)})`;
}

interface Leading extends Pick<NamedPath, "path" | "counts"> {
  readonly reason: string;
  /** Whether the whole folder counts if the path leads to it (`root`), or also to a folder above it (`all`). */
  readonly above: "none" | "root" | "all";
}

async function addTrail(
  search: EntrySearch,
  { root, known }: Following,
  { path, reason, counts, above }: Leading,
): Promise<void> {
  // a path that cannot be reached is outside, or in a folder that is a finding itself
  const trail = await trailOf(root, path).catch(() => null);
  if (trail === null || trail.end === null) {
    return;
  }
  const { links, end } = trail;
  const isAbove = isInside(end, root);
  const isWhole = isAbove && (above === "all" || (above === "root" && end === root));
  const inner = isWhole ? root : end;
  if ((isAbove && !isWhole) || !(await isCounted(inner, counts))) {
    return;
  }
  for (const link of links) {
    if (!search.covers(link)) {
      await search.add(link, reason);
    }
    const place = search.found.get(link);
    if (place !== undefined && known?.isNew(link, place) === true) {
      return;
    }
  }
  if (isInside(root, inner) && !search.covers(inner)) {
    await search.add(inner, reason);
  }
}

/** Whether what is at the end of a path that git's configuration names is meant, or would be. */
export async function isCounted(path: string, counts: NamedPath["counts"]): Promise<boolean> {
  if (counts === "any") {
    return true;
  }
  const entry = await lstat(path).catch(() => null);
  return counts === "file" ? entry?.isFile() === true : entry?.isDirectory() !== true;
}

async function referredBy(
  search: EntrySearch,
  path: string,
  { kind, target }: ControlPlace,
): Promise<Pointer[]> {
  if (kind === "link") {
    // a link that leads to something else under another name is another link
    return [{ ...pointer(target ?? "", dirname(path)), base: null }];
  }
  if (kind === "file") {
    return isGit(path.split(sep)) ? gitFolderNamedBy(search, path) : [];
  }
  const links = (await search.linksBelow(path)).map((link) => ({ path: link, base: null }));
  return [...links, ...(await commonFolder(search, path))];
}

/** A file that cannot be read is a reason to begin no command. */
async function gitFolderNamedBy(search: EntrySearch, path: string): Promise<Pointer[]> {
  try {
    const folder = await gitFolderIn(path);
    return folder === null ? [] : [folder];
  } catch (error) {
    return unreadPointer(search, path, error);
  }
}

/** The shared folder of a worktree's git folder. */
async function commonFolder(search: EntrySearch, folder: string): Promise<Pointer[]> {
  const path = join(folder, "commondir");
  try {
    const { size } = await stat(path);
    const common = size <= MAX_POINTER ? (await readFile(path, "utf8")).trim() : "";
    return common === "" ? [] : [pointer(common, folder)];
  } catch (error) {
    return unreadPointer(search, path, error);
  }
}

function unreadPointer(search: EntrySearch, path: string, error: unknown): [] {
  if (!isMissing(error)) {
    search.missed.push({ path, why: "git" });
  }
  return [];
}
