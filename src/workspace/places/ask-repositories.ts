import { basename, dirname, join, sep } from "node:path";

import { isGit } from "../../core/files/control-files.ts";
import { isInside } from "../files/real-path.ts";
import { foldersAbove as foldersBetween } from "../sandbox/folders-above.ts";
import { askGit, askGitForUser, type GitUser, type Pointer, type Repository } from "./ask-git.ts";
import type { EntrySearch } from "./entry-search.ts";
import { filesOfUser, settingsOfEnvironment } from "./git-user.ts";
import { namedByGit, type NamedPath } from "./named-by-git.ts";
import { trailOf } from "./trail.ts";

/** Processes of git at the same time. */
const TOGETHER = 8;

/** Asks git for each repository that the folder touches, or if there is none, for the user. */
export async function askAll(
  search: EntrySearch,
  { root, user }: { readonly root: string; readonly user: GitUser },
): Promise<readonly NamedPath[]> {
  const inside = [...search.found.keys()]
    .filter((path) => isGit([path.slice(path.lastIndexOf(sep) + 1)]))
    .map((git) => ({ git, top: dirname(git) }));
  const repositories: readonly Repository[] = [
    ...foldersAbove(root).map((top) => ({ git: join(top, ".git"), top })),
    ...inside,
    ...search.bare.map((git) => ({ git, top: git })),
  ];
  const named: NamedPath[] = filesOfUser(user).map((path) => ({
    path,
    key: "the user's own",
    counts: "any",
    base: null,
  }));
  const environment = settingsOfEnvironment(user);
  let isRepository = false;
  for (let at = 0; at < repositories.length; at += TOGETHER) {
    const asked = repositories.slice(at, at + TOGETHER).map(async (repository) => {
      const settings = await askGit(repository, user);
      if (settings === null) {
        search.missed.push({ path: repository.top, why: "git" });
      }
      const isOne = settings !== null && settings.length > 0;
      isRepository ||= isOne;
      return isOne ? namedByGit([...settings, ...environment], repository, user) : [];
    });
    named.push(...(await Promise.all(asked)).flat());
  }
  if (!isRepository) {
    named.push(...(await askForUser(search, { root, user })));
  }
  const byPath = new Map(named.map((each) => [`${each.counts} ${each.path}`, each]));
  return [...byPath.values()].filter(({ path }) => mayLeadInto(root, path));
}

/** Names for all repositories, wherever they are: no relative paths. */
async function askForUser(
  search: EntrySearch,
  { root, user }: { readonly root: string; readonly user: GitUser },
): Promise<NamedPath[]> {
  const settings = await askGitForUser(user);
  if (settings === null) {
    search.missed.push({ path: root, why: "git" });
  }
  const all = [...(settings ?? []), ...settingsOfEnvironment(user)];
  return namedByGit(all, { git: join(root, ".git"), top: root }, user).filter(
    ({ base }) => base === null,
  );
}

/**
 * Folders in which relative paths of git begin that lead out of them, and the folders above those, the
 * outer ones first. Under another name, such a path would lead to something else of the user's.
 */
export async function pinnedFolders(root: string, named: readonly Pointer[]): Promise<string[]> {
  const found = new Set<string>();
  for (const { path, base } of named) {
    if (base === null || !isInside(root, base)) {
      continue;
    }
    const [from, to] = await Promise.all(
      [base, path].map((each) => trailOf(root, each).catch(() => null)),
    );
    const start = from?.end ?? root;
    const moved = isGit([basename(start)]) ? dirname(start) : start;
    const end = to?.end ?? root;
    if (moved !== root && isInside(root, moved) && isInside(root, end) && !isInside(moved, end)) {
      found.add(moved);
    }
  }
  const places = [...found].map((folder) => ({ path: join(folder, ".git") }));
  return [...foldersBetween(places, root)];
}

export function foldersAbove(root: string): string[] {
  const above = dirname(root);
  return above === root ? [] : [above, ...foldersAbove(above)];
}

/** Most settings name programs of the system: no link of a command can be on the way to those. */
function mayLeadInto(root: string, path: string): boolean {
  const top = root.split(sep)[1] ?? "";
  return !SYSTEM.has(path.split(sep)[1] ?? "") || path.startsWith(`/${top}/`);
}

const SYSTEM: ReadonlySet<string> = new Set(["usr", "bin", "sbin", "lib", "etc"]);
