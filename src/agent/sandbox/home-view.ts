import { readdir, readFile, realpath } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";

import { isInside } from "../../workspace/files/real-path.ts";
import type { HomeView } from "../../workspace/sandbox/policy.ts";
import {
  GIT_SETTINGS,
  isPlainGitConfig,
  VISIBLE_IN_HOME,
} from "../../workspace/sandbox/visible-paths.ts";
import { repositoryAround } from "./repository-around.ts";

/** Folders that are never hidden as a whole, although system users have their homes there: programs are in them. */
const OF_SYSTEM = ["/usr", "/bin", "/sbin", "/etc", "/sys", "/boot", "/nix", "/gnu"];

export interface HomesOf {
  /** As `ownHomes` and `otherHomes` return them. */
  readonly own: readonly string[];
  readonly others: readonly string[];
  /** What the user makes visible besides: paths relative to a home. */
  readonly visible: readonly string[];
  /** The session's folder, by real path. */
  readonly folder: string;
}

/** What a command sees of the homes: what programs need, and what the user names. */
export async function findHomeView({ own, others, visible, folder }: HomesOf): Promise<HomeView> {
  const named = [...(await realFolders(own)), ...(await realFolders(others))];
  const homes = [...new Set(named.map(({ real }) => real))].filter(
    (home) => !isOfSystem(home) && !isInside(folder, home),
  );
  // a service of the administrator can work for somebody else
  const used = named.filter(
    ({ path, real }) => homes.includes(real) && (own.includes(path) || isInside(real, folder)),
  );
  const inHomes = await Promise.all(
    [...new Set(used.map(({ real }) => real))].map((home) =>
      visibleIn(home, [...VISIBLE_IN_HOME, ...visible]),
    ),
  );
  const isUsable = (path: string): boolean =>
    homes.some((home) => isInside(home, path)) &&
    !homes.some((home) => isInside(path, home)) &&
    !isInside(folder, path);
  const found = [...inHomes.flat(), ...(await repositoryAround(folder, homes))];
  const shown = [...new Set(found.map(({ real }) => real))].filter(isUsable);
  const links = [...found, ...used].filter(
    ({ path, real }) =>
      path !== real &&
      homes.some((home) => isInside(home, path)) &&
      ![...shown, folder].some((each) => isInside(each, path)),
  );
  return {
    homes,
    visible: shown,
    links: links.map(({ path, real }) => ({ path, target: real })),
    names: [...new Set(used.flatMap(({ path, real }) => [path, real]))],
  };
}

/** The home that the environment names and that of the user's account, which can differ. Absolute paths. */
export function ownHomes(home: string | null): string[] {
  const homes = [...(home === null ? [] : [home]), homedir(), accountHome()];
  return [...new Set(homes)].filter((path) => path.startsWith("/"));
}

/** The administrator can read everybody's files; others only what they are given. */
export async function otherHomes(): Promise<string[]> {
  const names = process.getuid?.() === 0 ? await readdir("/home").catch(() => []) : [];
  // programs for all users are there
  return names.filter((name) => name !== "linuxbrew").map((name) => join("/home", name));
}

interface Found {
  /** What is in a home: by the real path of that. */
  readonly path: string;
  readonly real: string;
}

async function visibleIn(home: string, names: readonly string[]): Promise<readonly Found[]> {
  const present = new Set(await readdir(home).catch(() => []));
  const existing = [...new Set(names)].filter((name) => present.has(name.split("/", 1)[0] ?? ""));
  const found = await Promise.all(
    existing.map(async (name): Promise<Found[]> => {
      const path = join(home, name);
      const real = await realpath(path).catch(() => null);
      return real === null || !(await isShowable(name, real)) ? [] : [{ path, real }];
    }),
  );
  // a link that leads to what has it already is there with that
  return found
    .flat()
    .filter(
      ({ path }, _, all) => !all.some((each) => each.path !== path && isInside(each.path, path)),
    );
}

async function isShowable(name: string, real: string): Promise<boolean> {
  return (
    !GIT_SETTINGS.includes(name) ||
    (await readFile(real, "utf8").then(isPlainGitConfig, () => false))
  );
}

async function realFolders(paths: readonly string[]): Promise<readonly Found[]> {
  const found = paths.map(async (path): Promise<Found[]> => {
    const real = await realpath(path).catch(() => null);
    return real === null ? [] : [{ path, real }];
  });
  return (await Promise.all(found)).flat();
}

function isOfSystem(home: string): boolean {
  return (
    dirname(home) === home ||
    home.startsWith("/lib") ||
    OF_SYSTEM.some((top) => isInside(top, home))
  );
}

function accountHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "";
  }
}
