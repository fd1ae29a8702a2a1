import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { dirname, join, parse, resolve, sep } from "node:path";

import { PROJECT_KEY_LENGTH } from "../core/limits.ts";

/**
 * The key under which all sessions of one project are found: the first 16 characters of the hex
 * SHA-256 of the real path, so that links, `..` and a trailing slash make no difference. `..` after
 * a link leads to the parent of the folder that the link points to, as it does for the system.
 * Parts that do not exist (or may not be read) are resolved by name alone. Never fails.
 */
export async function projectKeyOf(path: string): Promise<string> {
  return keyOfRealPath(await realPathOf(path));
}

/** Returns the key of a path that is real already. */
export function keyOfRealPath(real: string): string {
  return createHash("sha256").update(real).digest("hex").slice(0, PROJECT_KEY_LENGTH);
}

/** The real path, as far as the path exists. Never fails. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    return realPathByParts(path);
  }
}

async function realPathByParts(path: string): Promise<string> {
  const { root } = parse(path);
  let real = resolve(root);
  for (const part of path.slice(root.length).split(sep)) {
    if (part === "..") {
      real = dirname(real);
    } else if (part !== "" && part !== ".") {
      const next = join(real, part);
      real = await realpath(next).catch(() => next);
    }
  }
  return real;
}
