import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { sep } from "node:path";

import type { Skill } from "./skill.ts";

/** The list of skills for a model; null without any. */
export function offerOf(skills: readonly Skill[]): string | null {
  const lines = skills.map(({ name, description, path }) => `- ${name} (${path}): ${description}`);
  return lines.length === 0
    ? null
    : [
        "Skills: instructions for certain work. Read the file of one with read_file before you do what its description says; paths in it are relative to its folder.",
        ...lines,
      ].join("\n");
}

/**
 * Opens a file of a skill that is not in the session's folder, for an absolute path; null for other paths, and for what is
 * not a regular file below the skill's folder, links resolved.
 */
export async function openSkillFile(
  skills: readonly Skill[],
  path: string,
): Promise<FileHandle | null> {
  const skill = skills.find(
    ({ source, folder }) => source === "user" && path.startsWith(folder + sep),
  );
  if (skill === undefined) {
    return null;
  }
  try {
    const [real, folder] = await Promise.all([realpath(path), realpath(skill.folder)]);
    if (!real.startsWith(folder + sep)) {
      return null;
    }
    const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) {
      return file;
    }
    await file.close();
    return null;
  } catch {
    return null;
  }
}
