import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import type { TrustSource } from "../trust/trust.ts";
import type { SkillSource } from "./skill.ts";

/** Folders of skills and commands in a repository, which counts only if the user trusts it. */
export const SKILL_FOLDERS = [".agents/skills", ".claude/skills"] as const;
export const COMMAND_FOLDERS = [".agents/commands", ".claude/commands"] as const;

export interface SkillPlaces {
  /** The folder of the session; null for none. */
  readonly repoPath: string | null;
  /** The user's folder of personas, beside which the skills are; null for none. */
  readonly userDir: string | null;
  readonly trust: TrustSource;
}

export interface SkillPlace {
  readonly kind: "skills" | "commands";
  readonly source: SkillSource;
  readonly folder: string;
  /** How its files are named to a person and to `read_file`. */
  readonly shown: string;
  /** The folder in which its files must really be. */
  readonly within: string;
}

/**
 * Returns the places that are there, in the order in which a name is searched. Asks in this thread: five entries take
 * microseconds in every exchange.
 */
export function skillPlaces({ repoPath, userDir }: SkillPlaces): readonly SkillPlace[] {
  const inRepo =
    (kind: SkillPlace["kind"], repo: string) =>
    (shown: string): SkillPlace => {
      return { kind, source: "repository", folder: join(repo, shown), shown, within: repo };
    };
  const user = userDir === null ? null : join(dirname(userDir), "skills");
  const all: SkillPlace[] = [
    ...(repoPath === null ? [] : SKILL_FOLDERS.map(inRepo("skills", repoPath))),
    ...(user === null
      ? []
      : [{ kind: "skills", source: "user", folder: user, shown: user, within: user } as const]),
    ...(repoPath === null ? [] : COMMAND_FOLDERS.map(inRepo("commands", repoPath))),
  ];
  return all.filter(({ folder }) => existsSync(folder));
}
