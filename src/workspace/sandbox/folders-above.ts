import { dirname } from "node:path";

import { isInside } from "../files/real-path.ts";

/** The folders between a top folder and places somewhere below it, without both; the outer ones first. */
export function foldersAbove(
  places: readonly { readonly path: string }[],
  top: string,
): readonly string[] {
  const found = new Set<string>();
  for (const { path } of places) {
    for (let at = dirname(path); at !== top && isInside(top, at); at = dirname(at)) {
      found.add(at);
    }
  }
  return [...found].sort();
}
