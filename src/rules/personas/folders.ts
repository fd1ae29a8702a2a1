import { join } from "node:path";

import type { ToolSet } from "../../core/tools.ts";
import type { TrustSource } from "../trust/trust.ts";
import type { PersonaCache } from "./persona-cache.ts";
import type { PersonaSource } from "./persona.ts";

/**
 * The folders outside the repository that hold personas, which need not exist, and who is trusted.
 */
export interface PersonaFolders {
  /** The user's own, or null. */
  readonly userDir: string | null;
  /** Folder of the personas that come with the program. */
  readonly builtinDir: string;
  /** Decides whether the files of a repository are used. */
  readonly trust: TrustSource;
  /** The tools that they can name; `BUILT_IN_TOOLS` if it is not given. */
  readonly tools?: ToolSet;
  /** Without it, every file is read and parsed each time. */
  readonly cache?: PersonaCache;
}

export interface PersonaFolder {
  readonly source: PersonaSource;
  readonly path: string;
  /** How its files are named to a person. */
  readonly shown: string;
  /** Its files must really lie inside this folder; null if links may lead anywhere. */
  readonly within: string | null;
  /** Written for other programs too: what only they know is left out instead of refused. */
  readonly foreign: boolean;
}

const REPO_FOLDERS = [
  { shown: ".reprise/personas", foreign: false },
  { shown: ".claude/agents", foreign: true },
  { shown: ".agents/agents", foreign: true },
];

/** The folders to search, in order. A repository may be anybody's, so its links stay in. */
export function personaFolders(
  folders: PersonaFolders & { readonly repoPath: string | null },
): PersonaFolder[] {
  const { repoPath, userDir, builtinDir } = folders;
  const own = (source: PersonaSource, path: string): PersonaFolder => {
    return { source, path, shown: path, within: null, foreign: false };
  };
  const inRepo = (repo: string): PersonaFolder[] =>
    REPO_FOLDERS.map(({ shown, foreign }) => {
      return { source: "repository", path: join(repo, shown), shown, within: repo, foreign };
    });
  return [
    ...(repoPath === null ? [] : inRepo(repoPath)),
    ...(userDir === null ? [] : [own("user", userDir)]),
    own("built-in", builtinDir),
  ];
}
