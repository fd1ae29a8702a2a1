import { lstatSync, opendirSync } from "node:fs";
import { join } from "node:path";

import { stateOf } from "./walk-tree.ts";

/** Entries of ignored folders that are searched for later changes. */
const MAX_SEARCHED = 5000;

/** The state of each ignored path; of a folder, not of what it holds. */
export function findIgnoredStates(
  root: string,
  paths: readonly string[],
): (readonly [string, string])[] {
  return [...new Set(paths)].flatMap((path) => {
    const state = stateAt(join(root, path));
    return state === null ? [] : [[path, state] as const];
  });
}

/** The ignored paths that are new, gone, or changed since, also by what is in a folder. */
export function changedIgnored(
  root: string,
  {
    before,
    now,
    sinceMs,
  }: {
    readonly before: ReadonlyMap<string, string>;
    readonly now: ReadonlyMap<string, string>;
    readonly sinceMs: number;
  },
): string[] {
  let left = MAX_SEARCHED;
  const isNewer = (folder: string): boolean => {
    if ((changedMsOf(folder) ?? 0) >= sinceMs) {
      return true;
    }
    const waiting = [folder];
    for (let next = waiting.pop(); next !== undefined && left > 0; next = waiting.pop()) {
      for (const { path, isFolder, changedMs } of entriesOf(next, left)) {
        left -= 1;
        if (changedMs >= sinceMs) {
          return true;
        }
        if (isFolder) {
          waiting.push(path);
        }
      }
    }
    return false;
  };
  return [...new Set([...before.keys(), ...now.keys()])].filter((path) => {
    const state = now.get(path);
    return (
      before.get(path) !== state ||
      (state?.startsWith("folder") === true && isNewer(join(root, path)))
    );
  });
}

function stateAt(path: string): string | null {
  try {
    return stateOf(lstatSync(path));
  } catch {
    return null;
  }
}

function changedMsOf(path: string): number | null {
  try {
    return lstatSync(path).ctimeMs;
  } catch {
    return null;
  }
}

/** The first entries of a folder; none of one that cannot be read. */
function entriesOf(folder: string, max: number) {
  const found: { path: string; isFolder: boolean; changedMs: number }[] = [];
  try {
    const opened = opendirSync(folder);
    try {
      for (
        let each = opened.readSync();
        each !== null && found.length < max;
        each = opened.readSync()
      ) {
        const path = join(folder, each.name);
        const stat = lstatSync(path);
        found.push({ path, isFolder: stat.isDirectory(), changedMs: stat.ctimeMs });
      }
    } finally {
      opened.closeSync();
    }
  } catch {
    // another program changes it meanwhile
  }
  return found;
}
