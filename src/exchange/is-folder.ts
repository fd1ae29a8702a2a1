import { stat } from "node:fs/promises";

/** True if the path leads to a folder on this machine. */
export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() === true;
}
