import { execFile } from "node:child_process";
import { lstat, readFile, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";

import { findProgram } from "../sandbox/find-program.ts";
import { isMissing } from "./list-folder.ts";

/** A folder that git works in. */
export interface Repository {
  /** The folder, or the file `.git` that names it. */
  readonly git: string;
  /** Where its files are, and paths of the configuration begin. */
  readonly top: string;
}

/** Value of git's configuration. */
export interface GitSetting {
  /** The file that has it; null for the environment. */
  readonly file: string | null;
  /** With section and name in lower case, or the name of a variable. */
  readonly key: string;
  readonly value: string;
}

/** Whose configuration git reads besides that of a repository. */
export interface GitUser {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const FOLDERS = [
  "/usr/bin",
  "/usr/local/bin",
  "/opt/homebrew/bin",
  "/home/linuxbrew/.linuxbrew/bin",
  "/run/current-system/sw/bin",
  "/nix/var/nix/profiles/default/bin",
  "/bin",
];
/** Where the user's own configuration is. */
const PASSED = ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];
/** Settings in the environment. */
const GIVEN = /^GIT_CONFIG_(?:COUNT|PARAMETERS|KEY_\d+|VALUE_\d+)$/;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Files that are included by files that are included only sometimes. */
const MAX_INCLUDED = 100;

/**
 * All that git's configuration says in a repository: the system's, the user's and its own, with what these
 * include, also if only sometimes. Empty if git is not installed, or if it takes the folder for no repository;
 * null if git does not answer. Git runs nothing for it.
 */
export async function askGit(
  repository: Repository,
  user: GitUser,
): Promise<readonly GitSetting[] | null> {
  const program = findProgram(FOLDERS, "git");
  if (program === null) {
    return [];
  }
  const isOne = await isRepository(repository.git).catch(() => null);
  if (isOne !== true) {
    return isOne === false ? [] : null;
  }
  return allSettings({ program, repository, user });
}

/** Does so for the system and the user, outside of repositories. */
export async function askGitForUser(user: GitUser): Promise<readonly GitSetting[] | null> {
  const program = findProgram(FOLDERS, "git");
  return program === null
    ? []
    : allSettings({ program, repository: { git: "/dev/null", top: "/" }, user });
}

async function allSettings(asked: Omit<GitRun, "args">): Promise<readonly GitSetting[] | null> {
  const run = (args: readonly string[]) => runGit({ ...asked, args });
  const settings = await run([]);
  if (settings === null) {
    return null;
  }
  const all = [...settings];
  const read = new Set(all.map(({ file }) => file));
  // a condition can become true
  for (const setting of all) {
    const path = includedBy(setting, asked.user);
    if (path !== null && !read.has(path) && read.size < MAX_INCLUDED && (await isFile(path))) {
      read.add(path);
      const more = await run(["--file", path]);
      if (more === null) {
        return null;
      }
      all.push(...more);
    }
  }
  return all;
}

/** The path that a setting includes, as git understands it; null for another setting. */
export function includedBy({ key, value, file }: GitSetting, { home }: GitUser): string | null {
  return /^include(?:if\..*)?\.path$/s.test(key)
    ? gitPath(value, dirname(file ?? "/"), home)
    : null;
}

/** An absolute path that can contain `..`. */
export function gitPath(value: string, base: string, home: string): string {
  const path = value.replace(/^:\(optional\)/, "");
  if (path.startsWith("/")) {
    return path;
  }
  const [whole, name] = /^~([^/]*)\//.exec(path) ?? [];
  return whole === undefined || name === undefined
    ? `${base}/${path}`
    : `${name === "" ? home : homeOf(name)}/${path.slice(whole.length)}`;
}

function homeOf(name: string): string {
  const { username, homedir } = userInfo();
  return name === username ? homedir : name === "root" ? "/root" : `/home/${name}`;
}

/** Git takes no other folder for a repository, and what is at `.git` is read-only. */
async function isRepository(git: string): Promise<boolean> {
  const has = (folder: string, name: string): Promise<boolean> =>
    lstat(join(folder, name)).then(
      () => true,
      // a path that cannot be reached may be one
      (error: unknown) => !isMissing(error),
    );
  const named = (await isFile(git)) ? await gitFolderIn(git) : null;
  const folder = named?.path ?? git;
  return (
    (await has(folder, "HEAD")) &&
    ((await has(folder, "commondir")) ||
      ((await has(folder, "objects")) && (await has(folder, "refs"))))
  );
}

const MAX_POINTER = 64 * 1024;

/** A path that git is led to. */
export interface Pointer {
  /** Absolute; it can contain `..` and lead through links. */
  readonly path: string;
  /** The folder that it begins at, if it is relative; with that, it moves. */
  readonly base: string | null;
}

export function pointer(value: string, base: string): Pointer {
  return { path: gitPath(value, base, ""), base: value.startsWith("/") ? null : base };
}

/** A worktree and a submodule have a file `.git` that names their git folder; null for another file. */
export async function gitFolderIn(file: string): Promise<Pointer | null> {
  const text = (await stat(file)).size <= MAX_POINTER ? await readFile(file, "utf8") : "";
  const [, named] = /^gitdir:\s*(.+?)\s*$/m.exec(text) ?? [];
  return named === undefined ? null : pointer(named, dirname(file));
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

interface GitRun {
  readonly program: string;
  readonly repository: Repository;
  readonly user: GitUser;
  readonly args: readonly string[];
}

function runGit({ program, repository, user, args }: GitRun): Promise<GitSetting[] | null> {
  const passed = Object.entries(user.env).filter(
    ([name, value]) => value !== undefined && (PASSED.includes(name) || GIVEN.test(name)),
  );
  const options = {
    cwd: repository.top,
    env: {
      ...Object.fromEntries(passed),
      HOME: user.home,
      PATH: FOLDERS.join(":"),
      // so that git does not ask who owns the folder: it would leave its configuration out
      GIT_DIR: repository.git,
      GIT_OPTIONAL_LOCKS: "0",
      LC_ALL: "C",
    },
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL" as const,
    maxBuffer: MAX_BYTES,
  };
  const list = ["config", ...args, "--includes", "--null", "--show-origin", "--list"];
  return new Promise((resolve) => {
    execFile(program, list, options, (error, stdout) =>
      resolve(error === null ? parsed(stdout, repository.top) : null),
    ).stdin?.end();
  });
}

/** Pairs of an origin and of a key with its value on the next lines; without a value it means true. */
function parsed(printed: string, base: string): GitSetting[] {
  const fields = printed.split("\0");
  return fields.flatMap((origin, at) => {
    const [, setting] = [origin, fields[at + 1]];
    const end = setting?.indexOf("\n") ?? -1;
    const isGiven = origin === "command line:";
    const isKnown = isGiven || origin.startsWith("file:");
    if (at % 2 === 1 || !isKnown || setting === undefined || end < 0) {
      return [];
    }
    const file = isGiven ? null : gitPath(origin.slice("file:".length), base, "");
    return [{ file, key: setting.slice(0, end), value: setting.slice(end + 1) }];
  });
}
