import { realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

import { isInside } from "../../workspace/files/real-path.ts";
import { hiddenPaths } from "../../workspace/sandbox/hidden-paths.ts";
import type { HiddenPlace, HomeView } from "../../workspace/sandbox/policy.ts";
import { findHomeView, otherHomes, ownHomes } from "./home-view.ts";

export interface HiddenFor {
  /** The home that the environment of the command names; null if it names none. */
  readonly home: string | null;
  /** Files and folders of Reprise itself. */
  readonly own: readonly string[];
  readonly others: readonly string[];
  /** What of the homes the user makes visible: paths relative to them. */
  readonly visible: readonly string[];
  /** The session's folder, by real path. */
  readonly folder: string;
}

/** SQLite keeps these beside a database, and believes what is in them. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/**
 * What is hidden from a command, as far as it exists now, by real path, nothing below another one; and what it sees of the
 * homes. What the user names is visible although it is on the list, but nothing of Reprise itself.
 */
export async function findHidden({
  home,
  own,
  others,
  visible,
  folder,
}: HiddenFor): Promise<{ readonly hidden: readonly HiddenPlace[]; readonly home: HomeView }> {
  const homes = { own: ownHomes(home), others: await otherHomes() };
  const all = [...homes.own, ...homes.others];
  const named = new Set(all.flatMap((each) => visible.map((name) => join(each, name))));
  const [listed, kept, view] = await Promise.all([
    placesOf(hiddenPaths(all).filter((path) => !named.has(path))),
    placesOf([...own.flatMap(withCompanions), ...others]),
    findHomeView({ ...homes, visible, folder }),
  ]);
  const byPath = new Map([...listed, ...kept].map((place) => [place.path, place]));
  const linked = await linkedHidden({ homes: view.homes, visible, listed });
  const folders = [...byPath.values()].filter(({ kind }) => kind === "folder");
  return {
    hidden: [...byPath.values()].filter(
      ({ path }) => !folders.some((above) => above.path !== path && isInside(above.path, path)),
    ),
    home: {
      ...view,
      visible: view.visible.filter(
        (path) => !linked.has(path) && !kept.some((place) => isInside(place.path, path)),
      ),
    },
  };
}

/** Real paths that the list hides, and those to which only a link leads that the user names. */
async function linkedHidden(input: {
  /** By real path. */
  readonly homes: readonly string[];
  readonly visible: readonly string[];
  readonly listed: readonly HiddenPlace[];
}): Promise<ReadonlySet<string>> {
  const named = input.homes.flatMap((home) => input.visible.map((name) => join(home, name)));
  const real = await Promise.all(named.map((path) => realpath(path).catch(() => path)));
  return new Set(
    real.filter(
      (path) => !named.includes(path) && input.listed.some((place) => isInside(place.path, path)),
    ),
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

async function placesOf(paths: readonly string[]): Promise<readonly HiddenPlace[]> {
  return (await Promise.all(paths.map(placeOf))).filter((place) => place !== null);
}

async function placeOf(path: string): Promise<HiddenPlace | null> {
  const real = await realpath(resolve(path)).catch(() => null);
  const found = real === null ? null : await stat(real).catch(() => null);
  return real === null || found === null || dirname(real) === real
    ? null
    : { path: real, kind: found.isDirectory() ? "folder" : "file" };
}
