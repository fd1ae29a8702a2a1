import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

import { PROJECT_KEY_LENGTH } from "../core/limits.ts";

/**
 * The key under which all sessions of one project are found: the first 16 characters of the hex
 * SHA-256 of the resolved real path, so that links, `..` and a trailing slash make no difference.
 * A path that does not exist (or may not be read) is resolved as far as it does. Never fails.
 */
export async function projectKeyOf(path: string): Promise<string> {
  const real = await resolveAsFarAsPossible(resolve(path));
  return createHash("sha256").update(real).digest("hex").slice(0, PROJECT_KEY_LENGTH);
}

async function resolveAsFarAsPossible(path: string): Promise<string> {
  const missing: string[] = [];
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return join(await realpath(existing), ...missing);
    } catch {
      if (dirname(existing) === existing) {
        return path;
      }
      missing.unshift(basename(existing));
    }
  }
}
