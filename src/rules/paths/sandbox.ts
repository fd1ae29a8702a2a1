import type { BigIntStats } from "node:fs";
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";

import type { ProtectedPath } from "../config/user-config.ts";
import { covers } from "../permissions/rule.ts";
import type { FindControl } from "../../workspace/places/found-control.ts";
import type { LinkedNames } from "../../workspace/files/control-links.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { isInside, realPath, statOrNull } from "../../workspace/files/real-path.ts";

/** Where the tools may work, and what they must leave alone inside it. */
export interface SandboxFolder {
  readonly repoPath: string;
  /** The real path that it must have still; without it, any. */
  readonly root?: string | null | undefined;
  readonly protectedPaths: readonly string[];
  /** Paths that the configuration protects besides. */
  readonly configured?: readonly ProtectedPath[];
  /** Finds the protected names that links give to a path. */
  readonly linked: LinkedNames;
  /** Finds what directs other programs by what names it. */
  readonly found: FindControl;
  /** Called when a fixed limit denies a call. */
  readonly onDenied?: (() => void) | undefined;
}

/** Sandbox on the disk, during one call of a tool. */
export interface Sandbox {
  /** The repository's top as the session names it, and its real path. */
  readonly named: string;
  readonly root: string;
  /** Files of Reprise itself, and those that the configuration protects. */
  readonly guarded: readonly Guarded[];
  readonly configured: readonly Guarded[];
  /** Patterns of paths below the root. */
  readonly patterns: readonly string[];
  readonly linked: LinkedNames;
  readonly found: FindControl;
  readonly onDenied?: (() => void) | undefined;
}

interface Guarded {
  readonly path: string;
  readonly stat: BigIntStats | null;
}

/** SQLite keeps these beside a database. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/** Resolves the real paths of the repository and the protected files, once for each tool call. */
export async function resolveSandbox({
  repoPath,
  root = null,
  protectedPaths,
  configured = [],
  linked,
  found,
  onDenied,
}: SandboxFolder): Promise<Sandbox> {
  const names = protectedPaths.flatMap((path) => [path, ...COMPANIONS.map((end) => path + end)]);
  return {
    named: resolve(repoPath),
    root: await realRoot(repoPath, root),
    guarded: await Promise.all(names.map(guard)),
    configured: await Promise.all(
      configured.flatMap((entry) => ("path" in entry ? guard(entry.path) : [])),
    ),
    patterns: configured.flatMap((entry) => ("pattern" in entry ? entry.pattern : [])),
    linked,
    found,
    onDenied,
  };
}

/**
 * Whose file this is. A protected path and all below it count, under every name: a link was resolved before, and a
 * hard link is the same file. `shown` are its paths below the root, to which patterns apply.
 */
export function placeOf(
  { guarded, configured, patterns }: Sandbox,
  target: { readonly path: string; readonly stat: BigIntStats | null },
  shown: readonly string[],
): "inside" | "own" | "protected" {
  if (isGuarded(guarded, target)) {
    return "own";
  }
  return isGuarded(configured, target) || shown.some((path) => coveredBy({ patterns }, path))
    ? "protected"
    : "inside";
}

/** True for a path below the root to which a pattern of the configuration applies. */
export function coveredBy({ patterns }: Pick<Sandbox, "patterns">, path: string): boolean {
  return patterns.some((pattern) => covers(pattern, path));
}

function isGuarded(
  guarded: readonly Guarded[],
  target: { readonly path: string; readonly stat: BigIntStats | null },
): boolean {
  return guarded.some(
    ({ path, stat }) => isInside(path, target.path) || isSameFile(stat, target.stat),
  );
}

/** The real path of a session's folder. Refuses if it is not there, or not the one that is expected. */
export async function realRoot(repoPath: string, expected: string | null = null): Promise<string> {
  const root = await realpath(repoPath).catch(() => null);
  if (root === null || (await statOrNull(root))?.isDirectory() !== true) {
    throw refusal(
      "the session's folder no longer exists, so no file can be read or written; ask the user to restore it, or to begin a session in another folder",
    );
  }
  if (expected !== null && root !== expected) {
    throw refusal(
      "the session's folder was replaced by a link to another one, so no file can be read or written and no command runs; ask the user to put it back",
    );
  }
  return root;
}

async function guard(name: string): Promise<Guarded> {
  const path = resolve(name);
  const real = (await realPath(path).catch(() => null)) ?? path;
  return { path: real, stat: await statOrNull(real).catch(() => null) };
}

function isSameFile(a: BigIntStats | null, b: BigIntStats | null): boolean {
  return a !== null && b !== null && a.isFile() && a.ino === b.ino && a.dev === b.dev;
}
