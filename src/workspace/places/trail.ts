import { lstat, readlink } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

import { isInside } from "../files/real-path.ts";
import { isMissing } from "./list-folder.ts";

/** The way of a path on the disk. */
export interface Trail {
  /** Links on the way that are in the folder, by their own real path, in their order. */
  readonly links: readonly string[];
  /** The real path at its end, also if nothing is there yet; null if links lead in a circle. */
  readonly end: string | null;
}

/** As many links as Linux follows for one path. */
const MAX_LINKS = 40;

/** Follows an absolute path that may contain `..`, name by name. Rejects if a part of it cannot be read. */
export async function trailOf(root: string, path: string): Promise<Trail> {
  const links: string[] = [];
  // the path above the folder is a real path already
  let at = isInside(root, path) ? root : sep;
  let names = path.slice(at.length).split(sep);
  for (let left = MAX_LINKS; names.length > 0;) {
    const [name = "", ...rest] = names;
    names = rest;
    if (name === "" || name === ".") {
      continue;
    }
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const next = join(at, name);
    const stat = await lstat(next).catch((error: unknown) => {
      if (isMissing(error)) {
        return null;
      }
      throw error;
    });
    if (stat === null) {
      return { links, end: join(next, ...names) };
    }
    if (!stat.isSymbolicLink()) {
      at = next;
      continue;
    }
    left -= 1;
    if (left < 0) {
      return { links, end: null };
    }
    if (isInside(root, next)) {
      links.push(next);
    }
    const target = await readlink(next);
    at = target.startsWith(sep) ? sep : at;
    names = [...target.split(sep), ...names];
  }
  return { links, end: at };
}
