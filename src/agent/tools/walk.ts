import type { Dirent } from "node:fs";
import { join, matchesGlob } from "node:path";

import type { Tool } from "../../core/tools.ts";
import type { Sandbox } from "../../rules/paths/sandbox.ts";
import { SKIPPED } from "../../workspace/files/control-links.ts";
import { refusal } from "../../workspace/files/refusal.ts";
import { FIND_FILES } from "../../rules/tools/built-in.ts";
import type { PermitChange } from "../permit/permit.ts";
import { describeReading } from "../permit/change.ts";
import { entriesIn } from "../../workspace/files/held-folder.ts";
import { type ResolvedPath, resolvePath } from "../../rules/paths/resolve-path.ts";

/** Maximum of entries in one walk; a larger tree needs a narrower path. */
export const MAX_WALKED = 50_000;

/** Returns once a call may read below a folder. */
export async function permitFolder(
  sandbox: Sandbox,
  { path, tool }: { readonly path: string; readonly tool: Tool },
  permit: PermitChange,
): Promise<void> {
  const top = await resolvePath(sandbox, path, tool);
  await permit(top, () => describeReading(top));
}

/**
 * The files below a path that match a glob and may be read. A pattern without `/` is matched against
 * file names. Calls `full` once if it stopped early.
 */
export async function* matchingFiles(
  sandbox: Sandbox,
  { path, pattern }: { readonly path: string; readonly pattern: string },
  full: () => void,
): AsyncGenerator<ResolvedPath> {
  const matches = globMatcher(pattern);
  const top = await resolvePath(sandbox, path, FIND_FILES);
  if (top.stat === null) {
    throw refusal("there is no such path; list the repository's top first");
  }
  // a search leaves out what is off limits: that denies no call
  const leavingOut = { ...sandbox, onDenied: undefined };
  for await (const shown of walkFiles(top, full)) {
    // each file is checked again: some are off limits
    const target = matches(shown)
      ? await resolvePath(leavingOut, shown, FIND_FILES).catch(() => null)
      : null;
    if (target !== null) {
      yield target;
    }
  }
}

/**
 * The path of every regular file below a folder, or of the file itself, relative to the
 * repository's top; folder by folder, in the order of names. Links are not followed, `.git` and
 * `node_modules` are left out. Calls `full` once if it stopped early.
 */
export async function* walkFiles(top: ResolvedPath, full: () => void): AsyncGenerator<string> {
  if (top.stat?.isFile() === true) {
    yield top.shown;
    return;
  }
  let walked = 0;
  const waiting = [{ path: top.path, shown: top.shown === "." ? "" : `${top.shown}/` }];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const below: typeof waiting = [];
    for (const entry of await entriesOf(top.root, folder.path)) {
      walked += 1;
      if (walked > MAX_WALKED) {
        return full();
      }
      const shown = folder.shown + entry.name;
      if (entry.isFile()) {
        yield shown;
      } else if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
        below.push({ path: join(folder.path, entry.name), shown: `${shown}/` });
      }
    }
    waiting.push(...below.reverse());
  }
}

/** A folder that cannot be read hides only itself. */
async function entriesOf(root: string, path: string): Promise<Dirent[]> {
  const entries = await entriesIn(root, path).catch(() => []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * A glob as a test of relative paths. Patterns whose matching could take for ever (long ones, many
 * stars or braces, groups) are refused: a model must not be able to hang the process.
 */
function globMatcher(pattern: string): (shown: string) => boolean {
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
