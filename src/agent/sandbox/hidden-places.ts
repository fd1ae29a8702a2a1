import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

import { isInside } from "../../exchange/files/real-path.ts";
import { hiddenPaths } from "../../exchange/sandbox/hidden-paths.ts";
import type { HiddenPlace } from "../../exchange/sandbox/policy.ts";

/** Whose files are hidden. */
export interface HiddenFor {
  /** Home folders of the user, by full path. */
  readonly homes: readonly string[];
  /** Files and folders of Reprise itself. */
  readonly own: readonly string[];
  readonly others: readonly string[];
}

/** SQLite keeps these beside a database, and believes what is in them. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/** What is hidden from a command, as far as it exists now, by real path; nothing below another one. */
export async function findHidden({
  homes,
  own,
  others: more,
}: HiddenFor): Promise<readonly HiddenPlace[]> {
  // the administrator can read everybody's files
  const others = process.getuid?.() === 0 ? await readdir("/home").catch(() => []) : [];
  const allHomes = new Set([...homes, ...others.map((name) => join("/home", name))]);
  const paths = [...hiddenPaths([...allHomes]), ...own.flatMap(withCompanions), ...more];
  const places = (await Promise.all(paths.map(placeOf))).filter((place) => place !== null);
  const folders = places.filter(({ kind }) => kind === "folder");
  const byPath = new Map(places.map((place) => [place.path, place]));
  return [...byPath.values()].filter(
    ({ path }) => !folders.some((above) => above.path !== path && isInside(above.path, path)),
  );
}

/** The files beside a database that are not there, by real path. */
export async function missingCompanions(own: readonly string[]): Promise<readonly string[]> {
  const paths = await Promise.all(
    own.map(async (path) => {
      const file = await placeOf(path);
      return file?.kind === "file"
        ? Promise.all(
            COMPANIONS.map(async (end) =>
              (await placeOf(file.path + end)) === null ? [file.path + end] : [],
            ),
          )
        : [];
    }),
  );
  return paths.flat(2);
}

function withCompanions(path: string): string[] {
  return [path, ...COMPANIONS.map((end) => path + end)];
}

async function placeOf(path: string): Promise<HiddenPlace | null> {
  const real = await realpath(resolve(path)).catch(() => null);
  const found = real === null ? null : await stat(real).catch(() => null);
  return real === null || found === null || dirname(real) === real
    ? null
    : { path: real, kind: found.isDirectory() ? "folder" : "file" };
}
