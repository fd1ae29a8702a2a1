import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { visible } from "../../core/text/terminal-text.ts";
import { SKIPPED } from "../../workspace/files/control-links.ts";
import { entriesIn } from "../../workspace/files/held-folder.ts";
import { listIgnored } from "../../workspace/undo/commands/ignored-paths.ts";

/** The names of the files in a folder, as they were a moment ago. */
export interface FolderFiles {
  /** Another number once there are other paths. */
  version(): number;
  /** Relative to the folder, folders with `/` at their end. Begins to read them again if they are old. */
  paths(): readonly string[];
}

const MAX_PATHS = 20_000;
const MAX_MS = 3000;
/** Paths are read again when they are asked for after this time. */
const FRESH_MS = 10_000;

/**
 * Reads names only, in the background: no content, no link, nothing that git ignores (if git is installed; it gets no
 * configuration of the folder, see `listIgnored`). Names with characters that a terminal does not show are left out.
 * Reading stops after 20,000 paths or 3 s, with the ones nearest to the top.
 */
export function createFolderFiles({
  folder,
  changed,
}: {
  /** Null: there are none. */
  readonly folder: string | null;
  /** Called when paths have come. */
  readonly changed: () => void;
}): FolderFiles {
  let paths: readonly string[] = [];
  let version = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let isReading = false;

  const read = async (root: string): Promise<void> => {
    const found = await readPaths(root).catch(() => []);
    isReading = false;
    readAt = performance.now();
    if (found.length !== paths.length || found.some((path, index) => path !== paths[index])) {
      paths = found;
      version += 1;
      changed();
    }
  };
  return {
    version: () => version,
    paths: () => {
      if (folder !== null && !isReading && performance.now() - readAt > FRESH_MS) {
        isReading = true;
        void read(folder);
      }
      return paths;
    },
  };
}

async function readPaths(folder: string): Promise<readonly string[]> {
  const root = await realpath(folder);
  const ignored = new Set(await ignoredIn(root));
  const until = performance.now() + MAX_MS;
  const paths: string[] = [];
  let level = [""];
  while (level.length > 0) {
    const below: string[] = [];
    for (const above of level) {
      if (performance.now() > until || paths.length >= MAX_PATHS) {
        return paths.slice(0, MAX_PATHS);
      }
      const entries = await entriesIn(root, join(root, above)).catch(() => []);
      for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const path = above + entry.name;
        if (ignored.has(path) || visible(entry.name) !== entry.name || /[\n\t"]/.test(entry.name)) {
          continue;
        }
        if (entry.isFile()) {
          paths.push(path);
        } else if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
          paths.push(`${path}/`);
          below.push(`${path}/`);
        }
      }
    }
    level = below;
  }
  return paths;
}

/** Git works with an empty repository in a folder that is removed. */
async function ignoredIn(root: string): Promise<readonly string[]> {
  const ours = await mkdtemp(join(tmpdir(), "reprise-files-"));
  try {
    return (await listIgnored(root, ours)) ?? [];
  } finally {
    await rm(ours, { recursive: true, force: true });
  }
}
