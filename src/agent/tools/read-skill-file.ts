import type { Skill } from "../../rules/skills/skill.ts";
import { openSkillFile } from "../../rules/skills/offer.ts";
import { isBinary } from "../../workspace/files/open-file.ts";
import { readLines } from "./read-file.ts";
import type { FileCall } from "./write-file.ts";

/**
 * Reads a file of a skill of the user, which is not in the session's folder; null for another path. Rules of `read_file`
 * count for it, and a file that often holds secrets asks.
 */
export async function readSkillFile(
  skills: readonly Skill[],
  input: Parameters<typeof readLines>[1] & { readonly path: string },
  { permit }: FileCall,
): Promise<string | null> {
  await using file = await openSkillFile(skills, input.path);
  if (file === null) {
    return null;
  }
  const names = input.path.split("/").slice(1);
  await permit({ file: { paths: [input.path], names: [names], place: "inside" } }, async () => ({
    shown: "What it holds is sent to the model and stored in the session.",
    basis: input.path,
  }));
  return (await isBinary(file)) ? "(a binary file; not shown)" : await readLines(file, input);
}
