import type { Sandbox } from "../../rules/paths/sandbox.ts";
import { isGit } from "../../core/files/control-files.ts";
import { entriesIn } from "../../workspace/files/held-folder.ts";
import { resolvePath } from "../../rules/paths/resolve-path.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { FIND_FILES, LIST_FILES } from "../../rules/tools/built-in.ts";
import type { PermitChange } from "../permit/permit.ts";
import { describeReading } from "../permit/change.ts";
import { matchingFiles, MAX_WALKED, permitFolder } from "./walk.ts";

const MAX_LISTED = 1000;

/**
 * What is in a folder, one name a line: folders end with `/`, links with `@`. At most 1,000.
 * Git's own folder is left out.
 */
export async function listFolder(
  sandbox: Sandbox,
  { path }: { readonly path: string },
  permit: PermitChange,
): Promise<string> {
  const target = await resolvePath(sandbox, path, LIST_FILES);
  await permit(target, () => describeReading(target));
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

const MAX_FOUND = 1000;

/** Paths of the files of `matchingFiles`, relative to the repository's top. At most 1,000. */
export async function findFiles(
  sandbox: Sandbox,
  input: { readonly pattern: string; readonly path: string },
  permit: PermitChange,
): Promise<string> {
  await permitFolder(sandbox, { path: input.path, tool: FIND_FILES }, permit);
  const found: string[] = [];
  let cut = false;
  for await (const { shown } of matchingFiles(sandbox, input, () => (cut = true))) {
    if (found.length === MAX_FOUND) {
      return `${found.join("\n")}\n(more than ${MAX_FOUND} files match; narrow the pattern or the path)`;
    }
    found.push(shown);
  }
  const end = cut ? `\n(stopped after ${MAX_WALKED} entries; choose a smaller folder as path)` : "";
  return (found.join("\n") || "(no file matches)") + end;
}
