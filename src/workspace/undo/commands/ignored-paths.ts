import { execFile } from "node:child_process";
import { lstat, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { findProgram } from "../../sandbox/find-program.ts";

const FOLDERS = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"];
const TIMEOUT_MS = 5000;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Lists what git ignores in a folder, as paths below it with `/`; null if git is not installed or does not answer. An
 * ignored folder is named without what it holds. Git gets our empty repository, made in `ours`, so that it neither
 * reads nor runs anything that the folder's own configuration names; of the folder's repository it reads the index,
 * by which it knows the files that are tracked although a pattern matches them.
 */
export async function listIgnored(root: string, ours: string): Promise<readonly string[] | null> {
  const git = findProgram(FOLDERS, "git");
  if (git === null) {
    return null;
  }
  const repository = join(ours, "git");
  await mkdir(join(repository, "objects"), { recursive: true, mode: 0o700 });
  await mkdir(join(repository, "refs"), { recursive: true });
  await writeFile(join(repository, "HEAD"), "ref: refs/heads/none\n");
  const index = join(root, ".git", "index");
  const exclude = join(root, ".git", "info", "exclude");
  const [hasIndex, hasExclude] = await Promise.all([index, exclude].map(isFile));
  const run = async (withIndex: boolean): Promise<string | null> =>
    runGit(git, {
      cwd: root,
      args: hasExclude === true ? ["--exclude-from", exclude] : [],
      env: {
        GIT_DIR: repository,
        GIT_WORK_TREE: root,
        GIT_INDEX_FILE: withIndex ? index : join(repository, "index"),
      },
    });
  // an index of a newer form, or a split one, cannot be read alone
  const printed = (hasIndex === true ? await run(true) : null) ?? (await run(false));
  return printed === null ? null : withoutParents(printed.split("\0").filter(Boolean));
}

function runGit(
  git: string,
  {
    cwd,
    args,
    env,
  }: {
    readonly cwd: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<string | null> {
  const list = ["ls-files", "-o", "-i", "-z", "--directory", "--exclude-standard", ...args];
  const options = {
    cwd,
    env: {
      ...env,
      PATH: FOLDERS.join(":"),
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_OPTIONAL_LOCKS: "0",
    },
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL" as const,
    maxBuffer: MAX_BYTES,
  };
  return new Promise((resolve) => {
    execFile(git, ["-c", "core.fsmonitor=false", ...list], options, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
  });
}

/** Git also names folders of which all files are ignored, each by its own pattern. */
function withoutParents(paths: readonly string[]): string[] {
  const parents = new Set<string>();
  for (const path of paths) {
    for (let at = path.lastIndexOf("/", path.length - 2); at > 0;) {
      parents.add(path.slice(0, at + 1));
      at = path.lastIndexOf("/", at - 1);
    }
  }
  return paths.filter((path) => !parents.has(path)).map((path) => path.replace(/\/$/, ""));
}

async function isFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (stat) => stat.isFile(),
    () => false,
  );
}
