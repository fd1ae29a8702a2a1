import { readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

import { systemCode } from "../core/errors.ts";

/** Limits for a folder of schemas: more than a person writes by hand. */
const MAX_ENTRIES = 10_000;
const MAX_FOLDER_DEPTH = 16;

/** Why the files of a folder cannot be listed: a link leads out of the project, or it is too large. */
export type UnlistedReason = "outside" | "too_large";

/**
 * The `.json` files in a folder and the folders in it, in the order of their paths; none if there is
 * no such folder. Links below it are skipped. With `within` the folder must really lie in that one:
 * `.reprise/schemas -> /` comes with a clone.
 *
 * Throws the system's error if the folder cannot be read.
 */
export async function findSchemaFiles(
  path: string,
  within: string | null,
): Promise<readonly string[] | UnlistedReason> {
  const real = await realpath(path).catch(ifMissing(null));
  if (real === null) {
    return [];
  }
  if (within !== null && !join(real, sep).startsWith(join(await realpath(within), sep))) {
    return "outside";
  }
  return listFiles(path);
}

async function listFiles(top: string): Promise<readonly string[] | "too_large"> {
  const files: string[] = [];
  let entries = 0;
  let level = [top];
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(ifMissing([]))) {
        entries += 1;
        if (entries > MAX_ENTRIES || depth === MAX_FOLDER_DEPTH) {
          return "too_large";
        }
        if (entry.isDirectory()) {
          next.push(join(folder, entry.name));
        } else if (entry.isFile() && entry.name.endsWith(".json")) {
          files.push(join(folder, entry.name));
        }
      }
    }
    level = next;
  }
  return files.sort();
}

/** For `catch`: the value instead of the error that a file or folder does not exist. */
function ifMissing<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (!["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) {
      throw error;
    }
    return value;
  };
}
