import { realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";

/** Where the user's own files begin, and which folder the user named on purpose. */
export interface FolderChoice {
  /** The user's home folder; null if it is not known. */
  readonly home: string | null;
  /** The folder that `--repo` names in a terminal, else null. */
  readonly named: string | null;
}

/**
 * The folder that an agent's file tools may use: the session's, or null if that is the root of the
 * file system, the home folder or a folder above it and the user did not name it on purpose.
 */
export async function workFolder(
  repoPath: string | null,
  { home, named }: FolderChoice,
): Promise<string | null> {
  if (repoPath === null) {
    return null;
  }
  const folder = await realFolder(repoPath);
  const isWide = isWideFolder(folder, home === null ? null : await realFolder(home));
  return !isWide || (named !== null && (await realFolder(named)) === folder) ? repoPath : null;
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
