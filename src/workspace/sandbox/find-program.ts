import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** The first program of this name; never from PATH, which a repository could have a say in. */
export function findProgram(folders: readonly string[], name: string): string | null {
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
