import type { Dirent } from "node:fs";
import { join } from "node:path";

import type { SandboxInput } from "./sandbox.ts";
import { entriesIn } from "./held-folder.ts";
import { type ResolvedPath, resolvePath } from "./resolve-path.ts";

/** Maximum of entries in one walk; a larger tree needs a narrower path. */
export const MAX_WALKED = 50_000;

/** Folders that hold nothing anybody wrote here. A path inside one can still be named. */
const SKIPPED = new Set([".git", "node_modules"]);

export interface WalkedFile {
  /** Relative to the repository's top. */
  readonly shown: string;
}

/**
 * Every regular file below a folder, or the file itself, folder by folder, in the order of names.
 * Links are not followed, `.git` and `node_modules` are left out. Calls `full` once if it stopped
 * early.
 */
export async function* walkFiles(top: ResolvedPath, full: () => void): AsyncGenerator<WalkedFile> {
  if (top.stat?.isFile() === true) {
    yield { shown: top.shown };
    return;
  }
  let walked = 0;
  const waiting = [{ path: top.path, shown: top.shown === "." ? "" : `${top.shown}/` }];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const below: typeof waiting = [];
    for (const entry of await entriesOf(top.root, folder.path)) {
      walked += 1;
      if (walked > MAX_WALKED) {
        return full();
      }
      const shown = folder.shown + entry.name;
      if (entry.isFile()) {
        yield { shown };
      } else if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
        below.push({ path: join(folder.path, entry.name), shown: `${shown}/` });
      }
    }
    waiting.push(...below.reverse());
  }
}

/** A walk checks each file again before it is listed or opened: some are off limits. */
export async function resolveWalked(
  bounds: SandboxInput,
  file: WalkedFile,
): Promise<ResolvedPath | null> {
  return resolvePath(bounds, file.shown, "read").catch(() => null);
}

/** A folder that cannot be read hides only itself. */
async function entriesOf(root: string, path: string): Promise<Dirent[]> {
  const entries = await entriesIn(root, path).catch(() => []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
