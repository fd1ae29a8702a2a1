import { isFolder } from "../workspace/files/is-folder.ts";
import type { ServedFolders } from "./served-folders.ts";

/** Why the exchanges of a session would fail or wait: its folder is not there, or no node runs its sessions. */
export type FolderWarning = "folder_missing" | "folder_not_served";

interface KnownFolder {
  readonly repo_path: string | null;
  /** Whether a node that is alive runs exchanges of the session. */
  readonly runnable: boolean;
  /** The folders of this process; null if it runs no exchanges: the folder may exist on the machine that runs them. */
  readonly own: ServedFolders | null;
}

/** Returns what is known of a session's folder before anything runs in it. */
export async function folderWarning({
  repo_path,
  runnable,
  own,
}: KnownFolder): Promise<FolderWarning | null> {
  if (repo_path === null) {
    return null;
  }
  // no answer fails because of a warning
  const serves = async () => (await own?.serves(repo_path).catch(() => false)) === true;
  const isOwn = own !== null && (!runnable || (await serves()));
  if (isOwn && !(await isFolder(repo_path))) {
    return "folder_missing";
  }
  return runnable ? null : "folder_not_served";
}
