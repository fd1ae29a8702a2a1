import type { BigIntStats } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

import { MAX_PATH_LENGTH } from "../../core/limits.ts";
import { isGuarded, type Sandbox } from "./sandbox.ts";
import { type ControlFile, controlFileIn, isGit } from "../../core/control-files.ts";
import { refusal } from "./refusal.ts";
import { isInside, realPath, statOrNull } from "./real-path.ts";

export type Purpose = "read" | "write";

/** A place that was checked: inside the repository on the real disk, links resolved. */
export interface ResolvedPath {
  /** The real path of the repository's top. */
  readonly root: string;
  /** The real path, to be opened without following a link. */
  readonly path: string;
  /** The same, relative to the repository's top, with `/`; `.` for the top itself. */
  readonly shown: string;
  /** Null if nothing is there yet. */
  readonly stat: BigIntStats | null;
}

/**
 * Resolves a path from a model to a place inside the repository, or refuses it.
 *
 * Links are followed on the real disk: what they lead to must be inside too, also in the middle
 * of a path and for files that do not exist yet, and a link that leads nowhere is refused. So are
 * `..`, absolute paths outside, NUL, git's own folder, and the protected paths. The folders above
 * the repository count for names such as `.git` too. Refusals are RepriseErrors whose message is
 * meant for the model.
 */
export async function resolvePath(
  sandbox: Sandbox,
  path: string,
  purpose: Purpose,
): Promise<ResolvedPath> {
  const asked = segments(sandbox, path);
  const above = sandbox.root.split(sep);
  refuseReserved([...above, ...asked], purpose);
  const real = await realPath(join(sandbox.root, ...asked));
  if (real === null || !isInside(sandbox.root, real)) {
    throw refusal("the path leads out of the repository through a link; choose another");
  }
  const shown = relative(sandbox.root, real).split(sep).join("/") || ".";
  refuseReserved(real.split(sep), purpose);
  if (purpose === "write") {
    refuseControl(await sandbox.linked(sandbox.root, real));
  }
  const target = { root: sandbox.root, path: real, shown, stat: await statOrNull(real) };
  if (isGuarded(sandbox, target)) {
    throw refusal("this file belongs to Reprise itself and is off limits; choose another");
  }
  return target;
}

function segments(sandbox: Sandbox, path: string): string[] {
  if (path.includes("\0") || path.length > MAX_PATH_LENGTH) {
    throw refusal("this is not a path; write one relative to the repository's top");
  }
  const inner = isAbsolute(path) ? belowTop(sandbox, path) : path;
  const parts = inner.split(sep).filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) {
    throw refusal("a path must not contain ..; write it relative to the repository's top");
  }
  return parts;
}

/** Cut as text, so that `..` is still seen: resolving first would hide a way through a link. */
function belowTop({ named, root }: Sandbox, path: string): string {
  const top = [root, named].find((top) => isInside(top, path));
  if (top !== undefined) {
    return path.slice(top.length);
  }
  throw refusal(
    "this absolute path is outside the repository; write it relative to its top, like src/main.ts",
  );
}

/** Checked for the requested path and for the real one: a link gives a file two names. */
function refuseReserved(names: readonly string[], purpose: Purpose): void {
  if (isGit(names)) {
    throw refusal("git's own folder is off limits; work on the files of the repository");
  }
  if (purpose === "write") {
    refuseControl(controlFileIn(names));
  }
}

function refuseControl(control: ControlFile | null): void {
  if (control !== null) {
    throw refusal(
      `${control.name} can be read but not written, because ${control.reason}; ask the user to change it`,
    );
  }
}
