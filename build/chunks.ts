import { join } from "node:path";

import type { ModuleInfo } from "rolldown";

/** What a bundler knows of its modules. */
export interface ModuleSource {
  getModuleInfo(id: string): ModuleInfo | null;
}

interface Chunk {
  /** Of the file. */
  readonly name: string;
  /** Below `src/`. */
  readonly roots: readonly [string, ...string[]];
}

/**
 * The files that a start loads one after the other: the roots with what they import, without what a
 * file before has. Each file costs its own time, so what is needed together is one file.
 */
const STAGES: readonly Chunk[] = [
  // with `--version` alone nothing else is loaded
  {
    name: "core",
    roots: [
      "cli/process/output.ts",
      "core/errors.ts",
      "core/ids.ts",
      "core/limits.ts",
      "core/package-file.ts",
      "core/text/shell-words.ts",
      "core/text/terminal-text.ts",
      "core/text/text.ts",
      "core/time.ts",
      "store/location.ts",
    ],
  },
  { name: "commands", roots: ["cli/program.ts"] },
  {
    name: "database",
    roots: [
      "store/engines/sqlite/open.ts",
      "cli/commands/sessions/list.ts",
      "cli/commands/chat/chat-options.ts",
    ],
  },
];

/**
 * Besides the file of the first root: what of the roots other commands use, too. What needs a package
 * is left out, so that only who needs the package loads it.
 */
const SHARED: readonly Chunk[] = [
  { name: "session", roots: ["cli/commands/chat/chat.ts", "rules/config/settings.ts"] },
  {
    name: "exchange-parts",
    roots: ["agent/exchange.ts", "agent/sandbox/command-sandbox.ts", "exchange/live/feed.ts"],
  },
];

/** Makes what says in which file a module is; null for those that the bundler assigns. Call it when all are read. */
export function createChunkNames(
  root: string,
): (id: string, source: ModuleSource) => string | null {
  let names: ReadonlyMap<string, string> | null = null;
  return (id, source) => (names ??= chunkNames(root, source)).get(id) ?? null;
}

function chunkNames(root: string, source: ModuleSource): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const take = (ids: Iterable<string>): Set<string> => {
    const taken = new Set(ids);
    for (const id of taken) {
      for (const imported of infoOf(source, id).importedIds) {
        if (!names.has(imported)) {
          taken.add(imported);
        }
      }
    }
    return taken;
  };
  const needsPackage = (id: string): boolean => ![...take([id])].every(isOwn);
  const pathOf = (path: string): string => join(root, "src", path);
  const isOwn = (id: string): boolean => id.startsWith(pathOf("")) || id.startsWith("node:");
  const keep = (name: string, ids: Iterable<string>): void => {
    for (const id of ids) {
      names.set(id, name);
    }
  };
  for (const { name, roots } of STAGES) {
    keep(name, take(roots.map(pathOf)));
  }
  for (const { name, roots } of SHARED) {
    const ids = take(roots.map(pathOf));
    ids.delete(pathOf(roots[0]));
    const others = [...ids].filter(
      (id) =>
        importersOf(source, id).some((each) => !ids.has(each) && each !== pathOf(roots[0])) &&
        !needsPackage(id),
    );
    keep(name, take(others));
  }
  return names;
}

function importersOf(source: ModuleSource, id: string): string[] {
  const { importers, dynamicImporters } = infoOf(source, id);
  return [...importers, ...dynamicImporters];
}

function infoOf(source: ModuleSource, id: string): ModuleInfo {
  const info = source.getModuleInfo(id);
  if (info === null) {
    throw new Error(`The bundle has no module ${id}. Correct the roots in build/chunks.ts.`);
  }
  return info;
}
