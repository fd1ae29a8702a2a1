import { cp, lstat, mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";

import { systemCode } from "../../core/errors.ts";
import { oneLine } from "../../core/terminal-text.ts";
import { holdFolder } from "../../exchange/files/held-folder.ts";
import { type ControlPlace, findControlPlaces, isUnreadable } from "./control-places.ts";

export interface MoveOut {
  /** The real path of the folder that a command could change. */
  readonly folder: string;
  /** What was there before the command. */
  readonly before: ReadonlyMap<string, ControlPlace>;
  /** Files that must not appear in the folder, by full path: they belong to a database in it. */
  readonly absent: readonly string[];
  /** A folder that is made, if anything is moved. */
  readonly to: string;
  /** When the command had ended at the latest, in milliseconds since 1970: what was made later stays. */
  readonly until?: number;
}

/** More are moved, but not named. */
const MAX_NAMED = 20;

/**
 * Moves what other programs would execute or obey, and was not there before, out of a folder. Returns
 * sentences about it, empty if nothing was moved. What cannot be moved is named as well.
 */
export async function moveOutNew(input: MoveOut): Promise<readonly string[]> {
  const { folder, before, absent, to } = input;
  // what a new one leads to is moved nowhere: without it, it directs nothing
  const { places, isComplete } = await findControlPlaces(
    folder,
    (path, place) => !isNew(input, path, place),
  );
  const added = [...places].filter(([path, place]) => isNew(input, path, place));
  const companions = await Promise.all(
    absent.map(async (path) => ((await lstat(path).catch(() => null)) === null ? [] : [path])),
  );
  const moves = [
    ...added.map(([, { source, reason }]) => ({ path: source, reason })),
    ...companions
      .flat()
      .map((path) => ({ path, reason: "a database in this folder would read it" })),
  ];
  const done: string[] = [];
  const failed: string[] = [];
  const later: string[] = [];
  for (const [index, { path, reason }] of moves.entries()) {
    const target = join(to, `${index + 1}-${basename(path)}`);
    const shown = oneLine(relative(folder, path));
    if (input.until !== undefined && (await madeAt(path)) > input.until) {
      later.push(`${shown} (${reason})`);
      continue;
    }
    try {
      await mkdir(to, { recursive: true, mode: 0o700 });
      await move(folder, path, target);
      done.push(`${shown} (${reason})`);
      await restoreLink(path, before.get(path));
    } catch {
      failed.push(`${shown} (${reason})`);
    }
  }
  return [
    ...(done.length === 0
      ? []
      : [
          `Moved out of the folder, because a command must not write files that other programs execute or obey: ${listed(done)}. They are in ${to}. To have one of them, write it with the tools for files, which ask the user.`,
        ]),
    ...(failed.length === 0
      ? []
      : [
          `WARNING: other programs execute or obey these new files, and they could not be moved out of the folder: ${listed(failed)}. Ask the user to remove them.`,
        ]),
    ...(later.length === 0
      ? []
      : [
          `New since then, and not moved: ${listed(later)}. Ask the user about those that you do not know.`,
        ]),
    ...(isComplete
      ? []
      : [
          "WARNING: the folder has too many files to find those that other programs execute or obey. Ask the user to look for new ones.",
        ]),
  ];
}

/** 0 if the file system does not keep it. */
async function madeAt(path: string): Promise<number> {
  return lstat(path).then(
    ({ birthtimeMs }) => birthtimeMs,
    () => 0,
  );
}

/**
 * In the top folder names stay what they are, because what is mounted there cannot be renamed; below it, a
 * command can rename the folder above one and make another.
 */
function isNew({ folder, before }: MoveOut, path: string, place: ControlPlace): boolean {
  const known = before.get(path);
  const isFixed = dirname(path) === folder || path === folder;
  return (
    known === undefined ||
    known.kind !== place.kind ||
    (known.identity !== place.identity && !(isFixed && place.kind !== "link"))
  );
}

async function move(root: string, path: string, target: string): Promise<void> {
  await using held = await holdFolder(root, dirname(path));
  if (isUnreadable(basename(path))) {
    await moveUnreadable(held.at, basename(path), target);
    return;
  }
  const from = join(held.at, basename(path));
  try {
    await rename(from, target);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") {
      throw error;
    }
    await cp(from, target, { recursive: true, verbatimSymlinks: true, filter: isCopied });
    await rm(from, { recursive: true });
  }
}

/** Several names can look the same. */
async function moveUnreadable(folder: string, name: string, target: string): Promise<void> {
  const names = await readdir(folder, { encoding: "buffer" });
  for (const [index, raw] of names.filter((each) => each.toString() === name).entries()) {
    await rename(Buffer.concat([Buffer.from(folder + sep), raw]), `${target}.${index}`);
  }
}

/** Sockets and pipes have no content. */
async function isCopied(path: string): Promise<boolean> {
  const stat = await lstat(path);
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
}

/** A link cannot be mounted read-only, so a command may have replaced it. */
async function restoreLink(path: string, before: ControlPlace | undefined): Promise<void> {
  if (before?.kind === "link" && before.target !== null) {
    await symlink(before.target, path);
  }
}

function listed(texts: readonly string[]): string {
  const more = texts.length - MAX_NAMED;
  return [...texts.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
