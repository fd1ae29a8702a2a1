import type { PreparedCommit } from "./prepare-commit.ts";
import type { Git } from "./run-git.ts";

const NOTHING = "0".repeat(40);

/**
 * Commits what was prepared, on the branch that is checked out, and returns the id of the commit. Refuses for
 * the model if the branch has another commit by then. What is staged besides stays staged.
 */
export async function makeCommit(
  git: Git,
  { parent, tree, files }: PreparedCommit,
  message: string,
): Promise<string> {
  const on = parent === null ? [] : ["-p", parent];
  const id = (await git(["commit-tree", tree, ...on, "-F", "-"], { input: message })).trim();
  const [subject = ""] = message.split("\n");
  await git(["update-ref", "-m", `commit: ${subject}`, "HEAD", id, parent ?? NOTHING]);
  const top = (await git(["rev-parse", "--show-toplevel"])).replace(/\n$/, "");
  const reset = ["reset", "-q", "--no-refresh", "--pathspec-from-file=-", "--pathspec-file-nul"];
  await git(["-C", top, ...reset], { input: files.map((path) => `${path}\0`).join("") });
  return id;
}
