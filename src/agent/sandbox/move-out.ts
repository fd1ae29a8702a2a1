import { cp, lstat, mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";

import { systemCode } from "../../core/errors.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { holdFolder } from "../../workspace/files/held-folder.ts";
import { findPlacesAfter } from "../../workspace/places/control-places.ts";
import type { Missed } from "../../workspace/places/entry-search.ts";
import { isUnreadable } from "../../workspace/places/folder-names.ts";
import {
  type Before,
  type ControlPlace,
  knownPlaces,
} from "../../workspace/places/known-places.ts";

export interface MoveOut {
  /** The real path of the folder that a command could change. */
  readonly folder: string;
  /** What was there before the command. */
  readonly before: Before;
  /** Files that must not appear in the folder, by full path: they belong to a database in it. */
  readonly absent: readonly string[];
  /** A folder that is made, if anything is moved. */
  readonly to: string;
  /** When the command had ended at the latest, in milliseconds since 1970: what was made later stays. */
  readonly until?: number;
}

/** More are moved, but not named. */
const MAX_NAMED = 20;

/** What became of new things, each with its reason, as one line. */
interface Outcome {
  readonly done: string[];
  readonly failed: string[];
  readonly later: string[];
}

/**
 * Moves what other programs would execute or obey, and was not there before, out of a folder. Returns
 * sentences about it, empty if nothing was moved. What cannot be moved or searched is named as well.
 */
export async function moveOutNew(input: MoveOut): Promise<readonly string[]> {
  const { folder, before, absent, to } = input;
  const { places, missed } = await findPlacesAfter(folder, before);
  const known = knownPlaces(folder, before);
  const companions = await Promise.all(
    absent.map(async (path) => ((await lstat(path).catch(() => null)) === null ? [] : [path])),
  );
  const moves = [
    ...[...places]
      .filter(([path, place]) => known.isNew(path, place))
      .map(([, { source, reason }]) => ({ path: source, reason })),
    ...companions
      .flat()
      .map((path) => ({ path, reason: "a database in this folder would read it" })),
  ];
  const outcome: Outcome = { done: [], failed: [], later: [] };
  for (const [index, { path, reason }] of moves.entries()) {
    const shown = `${oneLine(relative(folder, path))} (${reason})`;
    if (input.until !== undefined && (await madeAt(path)) > input.until) {
      outcome.later.push(shown);
      continue;
    }
    try {
      await mkdir(to, { recursive: true, mode: 0o700 });
      await move(folder, path, join(to, `${index + 1}-${basename(path)}`));
      outcome.done.push(shown);
      await restoreLink(path, before.places.get(path));
    } catch {
      outcome.failed.push(shown);
    }
  }
  const renamed = [...places].flatMap(([path, place]) => {
    const earlier = before.places.has(path) ? null : known.earlierPath(place);
    return earlier === null
      ? []
      : [`${oneLine(relative(folder, earlier))} to ${oneLine(relative(folder, path))}`];
  });
  return [
    ...sentences(outcome, to),
    ...(renamed.length === 0 ? [] : [`Renamed with a folder above it: ${listed(renamed)}.`]),
    ...missedSentences(folder, missed),
  ];
}

function sentences({ done, failed, later }: Outcome, to: string): string[] {
  return [
    ...(done.length === 0
      ? []
      : [
          `Moved out of the folder, because a command must not write files that other programs execute or obey: ${listed(done)}. They are in ${oneLine(to)}. To have one of them, write it with the tools for files, which ask the user.`,
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
  ];
}

function missedSentences(folder: string, missed: readonly Missed[]): string[] {
  return missed.length === 0
    ? []
    : [
        `WARNING: not all of the folder was searched for new files that other programs execute or obey: ${listed(missed.map((each) => missedBecause(folder, each)))}. Ask the user to look there.`,
      ];
}

/** Why a part of a folder was not searched, as a part of a sentence. */
export function missedBecause(folder: string, { path, why }: Missed): string {
  const name = oneLine(relative(folder, path));
  const at = name === "" ? "the folder" : name;
  switch (why) {
    case "many":
      return "the folder has too many files to find those that other programs execute or obey";
    case "git":
      return `git cannot read the configuration of its repository in ${at}`;
    case "rights":
      return `${at} cannot be listed by its owner`;
    case "too_long":
      return `${at} has a path that is too long`;
    case "other":
      return `${at} cannot be read`;
  }
}

/** 0 if the file system does not keep it. */
async function madeAt(path: string): Promise<number> {
  return lstat(path).then(
    ({ birthtimeMs }) => birthtimeMs,
    () => 0,
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
