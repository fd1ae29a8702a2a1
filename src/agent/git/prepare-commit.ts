import { lstat, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isInside } from "../../workspace/files/real-path.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import type { Git } from "./run-git.ts";

/** A commit that exists only as a tree so far. */
export interface PreparedCommit {
  /** The commit that it is made on; null for the first one. */
  readonly parent: string | null;
  readonly tree: string;
  /** Lines such as `M src/a.ts`. */
  readonly changes: readonly string[];
  /** What the commit has of each path, for git's own index. */
  readonly files: readonly string[];
}

/**
 * Makes the tree of a commit of these paths alone, beside what is staged. Refuses for the model if the
 * repository's own configuration names programs or other files: a command could have written it.
 */
export async function prepareCommit(git: Git, paths: readonly string[]): Promise<PreparedCommit> {
  await refuseUnsafe(git);
  const parent = await git(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]).then(
    (text) => text.trim(),
    () => null,
  );
  const folder = await mkdtemp(join(tmpdir(), "reprise-commit-"));
  try {
    const index = join(folder, "index");
    await git(parent === null ? ["read-tree", "--empty"] : ["read-tree", parent], { index });
    const listed = await git(
      ["ls-files", "-z", "-c", "-o", "-d", "--exclude-standard", "--full-name", "--", ...paths],
      { index },
    );
    // a repository below this one ends with a slash
    const files = [...new Set(listed.split("\0"))].filter(
      (path) => path !== "" && !path.endsWith("/"),
    );
    await stage(git, files, index);
    const tree = (await git(["write-tree"], { index })).trim();
    const before = parent ?? (await git(["hash-object", "-t", "tree", "--stdin"])).trim();
    const changes = await git([
      "diff-tree",
      "-r",
      "-z",
      "--name-status",
      "--no-renames",
      "--no-ext-diff",
      before,
      tree,
    ]);
    if (changes === "") {
      throw refusal("these paths have nothing to commit; they are unchanged, ignored or missing");
    }
    return { parent, tree, files, changes: pairs(changes.split("\0")) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Names are relative to the top of the repository. */
async function stage(git: Git, files: readonly string[], index?: string): Promise<void> {
  const top = (await git(["rev-parse", "--show-toplevel"])).replace(/\n$/, "");
  await git(["-C", top, "update-index", "--add", "--remove", "-z", "--stdin"], {
    input: files.map((path) => `${path}\0`).join(""),
    ...(index === undefined ? {} : { index }),
  });
}

function pairs(fields: readonly string[]): string[] {
  return fields.flatMap((field, at) =>
    at % 2 === 0 && field !== "" ? [`${field} ${fields[at + 1] ?? ""}`] : [],
  );
}

/** Each would run a program of its choice, or name a file that does. */
const PROGRAMS =
  /^(?:filter\..*\.(?:clean|smudge|process)|includeif?\..*|include\..*|hook\..*|core\.(?:worktree|attributesfile|alternaterefscommand)|extensions\.partialclone)$/i;
/** Another command of git is not finished yet, and makes its commits later. */
const UNFINISHED = [
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "rebase-merge",
  "rebase-apply",
  "BISECT_LOG",
];

async function refuseUnsafe(git: Git): Promise<void> {
  const text = await git([
    "rev-parse",
    "--path-format=absolute",
    "--show-toplevel",
    "--git-dir",
    "--git-common-dir",
  ]);
  const [top = "", own = "", common = ""] = await Promise.all(
    text
      .trim()
      .split("\n")
      .map((path) => realpath(path)),
  );
  const entry = await lstat(join(top, ".git")).catch(() => null);
  const isPlain = entry?.isDirectory() === true && own === join(top, ".git") && common === own;
  // of a worktree or submodule, whose git folder no command could change
  const isLinked = entry?.isFile() === true && !isInside(top, own) && !isInside(top, common);
  if (!isPlain && !isLinked) {
    throw refusal("the folder has an unusual git folder; ask the user to commit");
  }
  const names = await git(["config", "--null", "--list", "--show-scope", "--name-only"]);
  const found = pairs(names.split("\0")).find((pair) => {
    const [scope = "", name = ""] = pair.split(" ");
    return !["system", "global", "command"].includes(scope) && PROGRAMS.test(name);
  });
  if (found !== undefined) {
    throw refusal(
      `the repository's configuration has ${found.split(" ")[1]}, which can run programs; ask the user to commit`,
    );
  }
  const unfinished = await Promise.all(
    UNFINISHED.map((name) =>
      lstat(join(own, name)).then(
        () => [name],
        () => [],
      ),
    ),
  );
  if (unfinished.flat().length > 0) {
    throw refusal("a merge, rebase or the like is not finished; ask the user to finish it");
  }
}
