import { realpath } from "node:fs/promises";
import { basename, delimiter, dirname, isAbsolute } from "node:path";

import { isInside } from "../../workspace/files/real-path.ts";
import type { HiddenPlace } from "../../workspace/sandbox/policy.ts";

export interface ProgramSearch {
  /** Of the command: folders with colons between. */
  readonly path: string;
  /** Real paths that are private for a command. */
  readonly privateFolders: readonly string[];
  /** Home folders that a command does not see as a whole, by real path. */
  readonly homes: readonly string[];
  readonly hidden: readonly HiddenPlace[];
  /** The session's folder, by real path. */
  readonly folder: string;
}

/**
 * The folders of `PATH` that are below a private folder, such as a toolchain in `/tmp`, or a hidden home: a command could not
 * start the user's programs without them. Of `bin` the folder around it, because programs need their libraries, unless
 * that is directly in a home, as `~/.local`. Nothing that holds the session's folder or a hidden place.
 */
export async function findPrograms(search: ProgramSearch): Promise<readonly string[]> {
  const { path, privateFolders, homes, hidden, folder } = search;
  const real = await Promise.all(
    path
      .split(delimiter)
      .filter((each) => isAbsolute(each))
      .map((each) => realpath(each).catch(() => "")),
  );
  const covered = [...privateFolders, "/dev/shm", ...homes];
  const isUsable = (each: string): boolean =>
    covered.some((root) => each !== root && isInside(root, each)) &&
    !homes.some((home) => isInside(each, home)) &&
    !isInside(each, folder) &&
    !isInside(folder, each) &&
    !hidden.some((place) => isInside(each, place.path) || isInside(place.path, each));
  const found = real.flatMap((each) => {
    const top = dirname(each);
    const isPrefix = /^\.?bin$/.test(basename(each)) && !homes.includes(dirname(top));
    const around = isPrefix ? [top] : [];
    return [...around, each].find(isUsable) ?? [];
  });
  return [...new Set(found)].sort();
}
