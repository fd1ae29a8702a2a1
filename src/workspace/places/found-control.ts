import { readdir } from "node:fs/promises";
import { basename, dirname, relative, sep } from "node:path";

import { isInside } from "../files/real-path.ts";
import type { GitUser } from "./ask-git.ts";
import { findControlPlaces, isCounted, namedReason } from "./control-places.ts";
import { GIT_REASON } from "./entry-search.ts";
import { GIT_NAMES } from "./folder-names.ts";
import { trailOf } from "./trail.ts";

/** A place that was found by what names it, such as git's configuration. */
export interface FoundControl {
  /** Relative to the session's folder. */
  readonly name: string;
  readonly reason: string;
}

/** Returns what a real path falls under that other programs execute or obey; null if nothing names it. */
export type FindControl = (root: string, path: string) => Promise<FoundControl | null>;

/**
 * Searches a folder as before a command in the sandbox, once for each root, so that the tools for files ask about
 * what git runs or reads there, also if it is not there yet. What changes later is not seen, but for a file
 * that makes a folder a repository. Links with protected names are found by `createLinkSearch`.
 */
export function createControlSearch(user: GitUser): FindControl {
  const searches = new Map<string, Promise<readonly FoundPath[]>>();
  return async (root, path) => {
    const search = searches.get(root) ?? foundPaths(root, user);
    searches.set(root, search);
    const found =
      (await search).find((each) => isInside(each.path, path)) ?? (await repositoryOf(root, path));
    return found === null
      ? null
      : { name: relative(root, found.path).split(sep).join("/") || ".", reason: found.reason };
  };
}

interface FoundPath {
  readonly path: string;
  readonly reason: string;
}

async function foundPaths(root: string, user: GitUser): Promise<FoundPath[]> {
  const { places, named } = await findControlPlaces(root, { user });
  const reasons = new Set([GIT_REASON, ...named.map(({ key }) => namedReason(key))]);
  const there = [...places].flatMap(([path, { reason, kind }]) =>
    reasons.has(reason) && kind !== "link" ? [{ path, reason }] : [],
  );
  const possible = named.map(async ({ path, key, counts }) => {
    const end = (await trailOf(root, path).catch(() => null))?.end ?? root;
    const isMeant = isInside(root, end) && end !== root && (await isCounted(end, counts));
    return isMeant ? [{ path: end, reason: namedReason(key) }] : [];
  });
  return [...there, ...(await Promise.all(possible)).flat()];
}

/** The folder that git would take for a repository, whatever it is called, with a file at this path. */
async function repositoryOf(root: string, path: string): Promise<FoundPath | null> {
  for (let name = path; name !== root && isInside(root, name); name = dirname(name)) {
    const folder = dirname(name);
    const own = basename(name).toLowerCase();
    if (GIT_NAMES.has(own)) {
      const names = await readdir(folder).catch(() => []);
      const has = new Set([own, ...names.map((each) => each.toLowerCase())]);
      if (has.has("head") && (has.has("commondir") || (has.has("objects") && has.has("refs")))) {
        return { path: folder, reason: GIT_REASON };
      }
    }
  }
  return null;
}
