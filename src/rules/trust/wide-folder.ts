import { realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";

import { controlFileIn, isGit } from "../../core/files/control-files.ts";

/** Where the user's own files begin, and which folder the user named on purpose. */
export interface FolderChoice {
  /** The user's home folder; null if it is not known. */
  readonly home: string | null;
  /** The folder that `--repo` names in a terminal, else null. */
  readonly named: string | null;
}

/** Folder of a session, and what an agent's file tools may do in it. */
export interface WorkFolder {
  /** The folder of the tools; null for no file tools. */
  readonly path: string | null;
  /** True if there are no tools that write. */
  readonly readOnly: boolean;
  /** Why a tool is missing; null if none is. */
  readonly limit: FolderLimit | null;
}

export type FolderLimit =
  | { readonly kind: "too_wide" | "git" }
  /** Folder in or below one of this name, which directs other programs. */
  | { readonly kind: "control"; readonly name: string };

/**
 * The session's folder as far as its files may be used. There are no file tools in the root of the
 * file system, the home folder and those above it unless the user named it on purpose, nor in git's
 * own folder; in a folder that no tool may write to there are those that read.
 */
export async function workFolder(
  repoPath: string | null,
  { home, named }: FolderChoice,
): Promise<WorkFolder> {
  if (repoPath === null) {
    return { path: null, readOnly: false, limit: null };
  }
  const folder = await realFolder(repoPath);
  const isWide = isWideFolder(folder, home === null ? null : await realFolder(home));
  if (isWide && (named === null || (await realFolder(named)) !== folder)) {
    return { path: null, readOnly: false, limit: { kind: "too_wide" } };
  }
  const names = folder.split(sep);
  if (isGit(names)) {
    return { path: null, readOnly: false, limit: { kind: "git" } };
  }
  const control = controlFileIn(names, "never");
  return control === null
    ? { path: repoPath, readOnly: false, limit: null }
    : { path: repoPath, readOnly: true, limit: { kind: "control", name: control.name } };
}

/** Both are real paths. */
export function isWideFolder(folder: string, home: string | null): boolean {
  return (
    dirname(folder) === folder ||
    (home !== null && (home === folder || home.startsWith(folder + sep)))
  );
}

/** The real path of a folder, or the absolute one if there is no such folder. */
export async function realFolder(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}
