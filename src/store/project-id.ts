import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";

import { PROJECT_KEY_LENGTH } from "../core/limits.ts";
import { gitFolderAround, readSmall } from "./git-folder.ts";
import { remoteRepository } from "./git-remote.ts";
import { projectKeyOf, realPathOf } from "./project-key.ts";

/** How the sessions of a folder are found. */
export interface Project {
  readonly project_key: string;
  /** Null without a repository. */
  readonly project_id: string | null;
}

export const NO_PROJECT = { project_key: null, project_id: null } as const;

/** Never fails. */
export async function projectOfFolder(path: string): Promise<Project> {
  const [project_key, project_id] = await Promise.all([projectKeyOf(path), projectIdOf(path)]);
  return { project_key, project_id };
}

/**
 * The id of the git repository that a folder is in, the same for its worktrees and clones: the first 16 characters of
 * the hex SHA-256 of the address of its remote, or of its first commit if it has no remote on another machine. Null
 * without a repository of this user, without a commit, and if it cannot be read. Nothing in the folder is executed.
 * Never fails.
 */
export async function projectIdOf(path: string): Promise<string | null> {
  const git = (await gitFolderAround(await realPathOf(path)))?.common ?? null;
  const config = git === null ? null : await readSmall(join(git, "config"), MAX_CONFIG);
  if (git === null || config === null) {
    return null;
  }
  const remote = remoteRepository(config);
  const identity = remote === null ? await firstCommit(git, config) : `remote ${remote}`;
  return identity === null ? null : hashOf(identity);
}

function hashOf(identity: string): string {
  return createHash("sha256").update(identity).digest("hex").slice(0, PROJECT_KEY_LENGTH);
}

const MAX_CONFIG = 1024 * 1024;

const FOLDERS = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"];
const TIMEOUT_MS = 2000;

/** The first commit; null in a repository whose history is not whole here. */
async function firstCommit(git: string, config: string): Promise<string | null> {
  const isPartial = /promisor|partialclone/i.test(config) || (await exists(join(git, "shallow")));
  const program = isPartial ? null : await findGit();
  if (program === null) {
    return null;
  }
  const args = ["rev-list", "--first-parent", "--max-parents=0", "HEAD", "--"];
  const options = {
    cwd: "/",
    env: {
      PATH: FOLDERS.join(":"),
      GIT_DIR: git,
      // of no configuration but the repository's, without transports and programs
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ALLOW_PROTOCOL: "none",
      GIT_NO_LAZY_FETCH: "1",
      GIT_NO_REPLACE_OBJECTS: "1",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_TERMINAL_PROMPT: "0",
      LC_ALL: "C",
    },
    timeout: TIMEOUT_MS,
    killSignal: "SIGKILL" as const,
  };
  const safe = ["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
  return new Promise((done) => {
    execFile(program, [...safe, ...args], options, (error, stdout) => {
      const [commit] = /^[0-9a-f]{40,64}$/m.exec(stdout) ?? [];
      done(error === null && commit !== undefined ? `commit ${commit}` : null);
    }).stdin?.end();
  });
}

/** Never from PATH, which a repository could have a say in. */
async function findGit(): Promise<string | null> {
  for (const folder of FOLDERS) {
    const path = join(folder, "git");
    if (await exists(path, constants.X_OK)) {
      return path;
    }
  }
  return null;
}

function exists(path: string, mode = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
