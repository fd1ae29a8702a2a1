import { readdir, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";

import { canHoldControlFile, controlFileIn } from "../../core/files/control-files.ts";
import { isInside, isLink } from "./real-path.ts";

/** A link of the repository that gives files a protected name, or could with names below it. */
interface ControlLink {
  /** The names of the link's own real path, from the root of the file system. */
  readonly names: readonly string[];
  /** The real path that it leads to, whether or not something is there. */
  readonly target: string;
}

interface Link {
  readonly path: string;
  readonly target: string;
}

/** Returns the protected name that a link gives to a real path, from the root of the file system, or null. */
export type LinkedNames = (root: string, path: string) => Promise<readonly string[] | null>;

/** Limits of the search for links; links beyond them are not seen. */
const LINK_SEARCH = {
  maxEntries: 100_000,
  maxDepth: 32,
  /** Links with a protected name, and others, which may lead on from one of them. */
  maxNamed: 10_000,
  maxOthers: 2000,
  maxPasses: 8,
} as const;

/** Folders of generated files, which searches skip. A path inside one can still be named. */
export const SKIPPED = new Set([".git", "node_modules"]);
/** As many links as Linux follows for one path. */
const MAX_FOLLOWED = 40;

/**
 * Searches a repository for links with protected names, once for each root: a link such as
 * `sub/.claude -> ../plain` gives the files in `plain` a second name. Links made later are not seen.
 */
export function createLinkSearch(): LinkedNames {
  const searches = new Map<string, Promise<readonly ControlLink[]>>();
  return async (root, path) => {
    const links = searches.get(root) ?? controlLinksBelow(root);
    searches.set(root, links);
    return linkedNames(await links, path);
  };
}

/** A link inside a folder that has a protected name through another link counts as well. */
async function controlLinksBelow(root: string): Promise<ControlLink[]> {
  const { named, others } = await linksBelow(root);
  const found = named.map(({ path, target }): ControlLink => ({ names: namesOf(path), target }));
  let rest: readonly Link[] = others;
  for (
    let pass = 0, before = -1;
    pass < LINK_SEARCH.maxPasses && before < found.length;
    pass += 1
  ) {
    before = found.length;
    const left: Link[] = [];
    for (const link of rest) {
      const names = linkedNames(found, link.path);
      if (names === null) {
        left.push(link);
      } else {
        found.push({ names, target: link.target });
      }
    }
    rest = left;
  }
  return found;
}

/** The protected name that a link gives to a real path; null if none does. */
function linkedNames(found: readonly ControlLink[], path: string): readonly string[] | null {
  for (const { names, target } of found) {
    const linked = isInside(target, path) ? [...names, ...namesOf(relative(target, path))] : null;
    if (linked !== null && controlFileIn(linked) !== null) {
      return linked;
    }
  }
  return null;
}

/** Level by level, so that a large tree hides no link above it. */
async function linksBelow(root: string): Promise<{ named: Link[]; others: Link[] }> {
  const named: Link[] = [];
  const others: Link[] = [];
  let entries = 0;
  let level = [root];
  for (let depth = 0; depth < LINK_SEARCH.maxDepth && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        entries += 1;
        if (entries > LINK_SEARCH.maxEntries) {
          return { named, others };
        }
        const path = join(folder, entry.name);
        if (entry.isSymbolicLink()) {
          const isNamed = canHoldControlFile(namesOf(path));
          const [links, max] = isNamed
            ? [named, LINK_SEARCH.maxNamed]
            : [others, LINK_SEARCH.maxOthers];
          if (links.length < max) {
            links.push({ path, target: (await leadsTo(path, MAX_FOLLOWED)) ?? path });
          }
        } else if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
          next.push(path);
        }
      }
    }
    level = next;
  }
  return { named, others };
}

/** The real path that a path leads to, or would once the missing names are made; null for a loop. */
async function leadsTo(path: string, left: number): Promise<string | null> {
  const real = await realpath(path).catch(() => null);
  if (real !== null || left === 0) {
    return real;
  }
  if (await isLink(path)) {
    const [folder, target] = await Promise.all([realpath(dirname(path)), readlink(path)]);
    return leadsTo(target.startsWith(sep) ? target : folder + sep + target, left - 1);
  }
  const parent = dirname(path) === path ? null : await leadsTo(dirname(path), left);
  return parent === null ? null : join(parent, basename(path));
}

function namesOf(path: string): string[] {
  return path.split(sep).filter(Boolean);
}
