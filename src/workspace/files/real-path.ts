import type { BigIntStats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";

import { systemCode } from "../../core/errors.ts";

/**
 * The real path of a place that may not exist: of its nearest existing parent, and the rest. Null
 * for a link to nothing, because the creator of its target decides where that is.
 */
export async function realPath(path: string): Promise<string | null> {
  const real = await realpath(path).catch(nullIfMissing);
  if (real !== null) {
    return real;
  }
  if (await isLink(path)) {
    return null;
  }
  const parent = await realPath(dirname(path));
  return parent === null ? null : join(parent, basename(path));
}

/** True for the folder itself and all below it, and not for `/repo-evil` beside `/repo`. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export async function statOrNull(path: string): Promise<BigIntStats | null> {
  return stat(path, { bigint: true }).catch(nullIfMissing);
}

function nullIfMissing(error: unknown): null {
  if (systemCode(error) === "ENOENT") {
    return null;
  }
  throw error;
}

export async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}
