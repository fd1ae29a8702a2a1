import type { BigIntStats } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

import { MAX_PATH_LENGTH } from "../../core/limits.ts";
import { isHarmless, type Tool } from "../../core/tools.ts";
import type { CalledFile } from "../permissions/call.ts";
import { type Decision, fixedLimit } from "../permissions/decide.ts";
import { placeOf, type Sandbox } from "./sandbox.ts";
import { denial, refusal } from "../../workspace/files/refusal.ts";
import { isInside, realPath, statOrNull } from "../../workspace/files/real-path.ts";

/** A place that was checked: inside the repository on the real disk, links resolved. */
export interface ResolvedPath {
  /** The real path of the repository's top. */
  readonly root: string;
  /** The real path, to be opened without following a link. */
  readonly path: string;
  /** Path relative to the repository's top, with `/`; `.` for the top itself. */
  readonly shown: string;
  /** Null if nothing is there yet. */
  readonly stat: BigIntStats | null;
  /** File by which permissions are decided. */
  readonly file: CalledFile;
}

/**
 * Resolves a path from a model to a place inside the repository, or refuses it for the tool that named it.
 *
 * Links are followed on the real disk: what they lead to must be inside too, also in the middle
 * of a path and for files that do not exist yet, and a link that leads nowhere is refused. So are
 * `..`, absolute paths outside, NUL, and what `fixedLimit` denies. The folders above
 * the repository count for names such as `.git` too. Refusals are RepriseErrors whose message is
 * meant for the model.
 */
export async function resolvePath(
  sandbox: Sandbox,
  path: string,
  tool: Tool,
): Promise<ResolvedPath> {
  const { target, file } = await locate(sandbox, { path, tool });
  const limit = fixedLimit({ tool, file, command: null });
  if (limit !== null || target === null) {
    sandbox.onDenied?.();
    throw denial(refusedBecause(limit));
  }
  return { ...target, file };
}

/** For a model: why a fixed limit denies its call. */
function refusedBecause(limit: Decision | null): string {
  return `${limit?.reason ?? "it is outside the session's folder"}; choose another file, or ask the user to change it`;
}

interface Located {
  /** Null outside the repository. */
  readonly target: Omit<ResolvedPath, "file"> | null;
  readonly file: CalledFile;
}

/** Finds out what a path means, whether or not it may be used. Refuses text that cannot be a path. */
export async function locate(
  sandbox: Sandbox,
  { path, tool }: { readonly path: string; readonly tool: Tool },
): Promise<Located> {
  const { root } = sandbox;
  const asked = segments(sandbox, path);
  if (asked === null) {
    return { target: null, file: { paths: [path], names: [path.split(sep)], place: "outside" } };
  }
  const above = root.split(sep);
  const shownAsked = asked.join("/") || ".";
  const real = await realPath(join(root, ...asked));
  if (real === null || !isInside(root, real)) {
    const names = [[...above, ...asked], ...(real === null ? [] : [real.split(sep)])];
    return { target: null, file: { paths: [shownAsked], names, place: "outside" } };
  }
  const shown = relative(root, real).split(sep).join("/") || ".";
  const target = { root, path: real, shown, stat: await statOrNull(real) };
  // a search of the whole repository, which reading does not need
  const linked = isHarmless(tool) ? null : await sandbox.linked(root, real);
  const found = isHarmless(tool) ? null : await sandbox.found(root, real);
  const names = [[...above, ...asked], real.split(sep), ...(linked === null ? [] : [linked])];
  const paths = [shownAsked, shown];
  return { target, file: { paths, names, place: placeOf(sandbox, target, paths), found } };
}

/** Null for an absolute path outside. */
function segments(sandbox: Sandbox, path: string): string[] | null {
  if (path.includes("\0") || path.length > MAX_PATH_LENGTH) {
    throw refusal("this is not a path; write one relative to the repository's top");
  }
  const inner = isAbsolute(path) ? belowTop(sandbox, path) : path;
  const parts = inner?.split(sep).filter((part) => part !== "" && part !== ".") ?? null;
  if (parts?.includes("..") === true) {
    throw refusal("a path must not contain ..; write it relative to the repository's top");
  }
  return parts;
}

/** Cut as text, so that `..` is still seen: resolving first would hide a way through a link. */
function belowTop({ named, root }: Sandbox, path: string): string | null {
  const top = [root, named].find((top) => isInside(top, path));
  return top === undefined ? null : path.slice(top.length);
}
