import { join } from "node:path";

import type { GitSetting, GitUser } from "./ask-git.ts";

/** Variables whose values git starts. */
export const STARTED: readonly string[] = [
  "GIT_ASKPASS",
  "GIT_EDITOR",
  "GIT_EXTERNAL_DIFF",
  "GIT_PAGER",
  "GIT_PROXY_COMMAND",
  "GIT_SEQUENCE_EDITOR",
  "GIT_SSH",
  "GIT_SSH_COMMAND",
  "SSH_ASKPASS",
  "EDITOR",
  "PAGER",
  "VISUAL",
];
/** Variables that name a folder from which git starts programs, or copies hooks. */
export const USED_FOLDERS: readonly string[] = ["GIT_EXEC_PATH", "GIT_TEMPLATE_DIR"];

/** Reads settings from the environment. */
export function settingsOfEnvironment({ env }: GitUser): GitSetting[] {
  return [...STARTED, ...USED_FOLDERS].flatMap((key) => {
    const value = env[key] ?? "";
    return value === "" ? [] : [{ file: null, key, value }];
  });
}

/** The user's own files, which can be links, also if nothing is in them yet. */
export function filesOfUser({ home, env }: GitUser): string[] {
  const folder = join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "git");
  const given = [env["GIT_CONFIG_GLOBAL"], env["GIT_CONFIG_SYSTEM"]];
  return [
    join(home, ".gitconfig"),
    join(folder, "config"),
    join(folder, "attributes"),
    ...given.filter((path) => path !== undefined),
  ].filter((path) => path.startsWith("/"));
}
