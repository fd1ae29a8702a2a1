import type { Sandbox } from "./sandbox.ts";
import { matchingFiles, MAX_WALKED } from "./walk.ts";

const MAX_FOUND = 1000;

/** Paths of the files of `matchingFiles`, relative to the repository's top. At most 1,000. */
export async function findFiles(
  sandbox: Sandbox,
  input: { readonly pattern: string; readonly path: string },
): Promise<string> {
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
