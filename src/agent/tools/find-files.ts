import { matchesGlob } from "node:path";

import { type Sandbox, resolveSandbox } from "./sandbox.ts";
import { resolvePath } from "./resolve-path.ts";
import { refusal } from "./refusal.ts";
import { resolveWalked, MAX_WALKED, walkFiles } from "./walk.ts";

const MAX_FOUND = 1000;

/**
 * Paths of files below `path` that match a glob, relative to the repository's top. A pattern
 * without `/` is matched against file names. At most 1,000.
 */
export async function findFiles(
  boundary: Sandbox,
  input: { readonly pattern: string; readonly path: string },
): Promise<string> {
  const matches = globMatcher(input.pattern);
  const bounds = await resolveSandbox(boundary);
  const top = await resolvePath(bounds, input.path, "read");
  if (top.stat === null) {
    throw refusal("there is no such folder; list the repository's top first");
  }
  const found: string[] = [];
  let cut = false;
  for await (const file of walkFiles(top, () => (cut = true))) {
    if (!matches(file.shown) || (await resolveWalked(bounds, file)) === null) {
      continue;
    }
    if (found.length === MAX_FOUND) {
      return `${found.join("\n")}\n(more than ${MAX_FOUND} files match; narrow the pattern or the path)`;
    }
    found.push(file.shown);
  }
  const end = cut ? `\n(stopped after ${MAX_WALKED} entries; choose a smaller folder as path)` : "";
  return (found.join("\n") || "(no file matches)") + end;
}

/**
 * A glob as a test of relative paths. Patterns whose matching could take for ever (long ones, many
 * stars or braces, groups) are refused: a model must not be able to hang the process.
 */
export function globMatcher(pattern: string): (shown: string) => boolean {
  const count = (part: RegExp) => [...pattern.matchAll(part)].length;
  if (
    pattern === "" ||
    pattern.length > 256 ||
    count(/[*?]+/g) > 8 ||
    count(/\{/g) > 3 ||
    /[?*+@!]\(/.test(pattern)
  ) {
    throw refusal("this pattern is too complicated; use something like src/**/*.ts");
  }
  // ranges like {1..99999999} expand to as many patterns
  if (pattern.includes("..")) {
    throw refusal("a pattern must not contain ..; narrow it with path");
  }
  const relative = pattern.replace(/^(?:\.?\/)+/, "");
  const wanted = relative.includes("/") ? relative : `**/${relative}`;
  return (shown) => matchesGlob(shown, wanted);
}
