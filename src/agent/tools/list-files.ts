import type { Sandbox } from "./sandbox.ts";
import { isGit } from "../../core/control-files.ts";
import { entriesIn } from "./held-folder.ts";
import { resolvePath } from "./resolve-path.ts";
import { refusal } from "./refusal.ts";

const MAX_LISTED = 1000;

/**
 * What is in a folder, one name a line: folders end with `/`, links with `@`. At most 1,000.
 * Git's own folder is left out.
 */
export async function listFolder(
  sandbox: Sandbox,
  { path }: { readonly path: string },
): Promise<string> {
  const target = await resolvePath(sandbox, path, "read");
  if (target.stat === null) {
    throw refusal("there is no such folder; list the repository's top first");
  }
  if (!target.stat.isDirectory()) {
    throw refusal("this is not a folder; read_file shows a file");
  }
  const entries = await entriesIn(target.root, target.path);
  const names = entries
    .filter(({ name }) => !isGit([name]))
    .map((entry) => entry.name + (entry.isDirectory() ? "/" : entry.isSymbolicLink() ? "@" : ""))
    .sort();
  if (names.length === 0) {
    return "(the folder is empty)";
  }
  const left = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join("\n") + (left > 0 ? `\n(and ${left} more)` : "");
}
