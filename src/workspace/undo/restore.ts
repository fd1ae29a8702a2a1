import { basename, dirname, join } from "node:path";

import { systemCode, isRepriseError } from "../../core/errors.ts";
import { type Entry, isSameEntry } from "../../core/files/file-entries.ts";
import type { FileOutcome } from "../../core/schemas/file-change-schemas.ts";
import { find, type Found, makeFolder, namesIn, put, setMode, tidy } from "./disk.ts";
import { entryDiff } from "./entry-diff.ts";
import type { Conceal } from "../../core/secrets.ts";
import type { KeptBytes } from "./kept-bytes.ts";
import type { NetChange } from "./net-changes.ts";
import { unrecordedReason } from "./unrecorded.ts";

export type Direction = "undo" | "redo";

/** A path, and what is to be there. */
export interface Step {
  readonly net: NetChange;
  readonly wanted: Entry | null;
  /** The bytes of a wanted file. */
  readonly bytes: Buffer | null;
  readonly found: Found;
  outcome: FileOutcome;
}

export interface RestoreOptions {
  readonly kept: KeptBytes;
  readonly direction: Direction;
  /** Applied to diffs. */
  readonly conceal: Conceal;
  /** See `replacedFolders`. */
  readonly replaced: ReadonlySet<string>;
  /** See `leftBy`. */
  readonly left: ReadonlyMap<string, Found>;
}

/** Entries that steps which are only planned would leave at their paths. */
export function leftBy(steps: readonly Step[]): ReadonlyMap<string, Found> {
  return new Map(
    steps.flatMap(({ net: { root, path }, outcome, wanted, bytes }) =>
      outcome.outcome === "restored"
        ? [[join(root, path), { entry: wanted, bytes, stat: null }] as const]
        : [],
    ),
  );
}

/** The paths at which something else is to become a folder again; nothing is below them now. */
export function replacedFolders(
  nets: readonly NetChange[],
  direction: Direction,
): ReadonlySet<string> {
  return new Set(
    nets.flatMap(({ root, path, before, after }) => {
      const [now, wanted] = direction === "undo" ? [after, before] : [before, after];
      const isReplaced = now !== null && now.kind !== "folder" && wanted?.kind === "folder";
      return isReplaced ? [join(root, path)] : [];
    }),
  );
}

/** Compares what is at a path with what the changes left there. Changes nothing. */
export async function planStep(net: NetChange, options: RestoreOptions): Promise<Step> {
  const wanted = options.direction === "undo" ? net.before : net.after;
  const step = { net, wanted, bytes: null, found: { entry: null, bytes: null, stat: null } };
  const unrecorded = unrecordedReason(net);
  if (unrecorded !== null) {
    return { ...step, outcome: { path: net.path, diff: null, ...unrecorded } };
  }
  try {
    const found = isBelow(options.replaced, net)
      ? NOTHING
      : (options.left.get(join(net.root, net.path)) ??
        (await find(net, options.kept.limits.session)));
    const { bytes, ...outcome } = await judge(net, { ...options, wanted, found });
    return { ...step, found, bytes, outcome: { path: net.path, ...outcome } };
  } catch (error) {
    return { ...step, outcome: refused(net, reasonOf(error)) };
  }
}

function isBelow(folders: ReadonlySet<string>, { root, path }: NetChange): boolean {
  for (let at = dirname(path); at !== "."; at = dirname(at)) {
    if (folders.has(join(root, at))) {
      return true;
    }
  }
  return false;
}

type Judgement = Omit<FileOutcome, "path"> & { readonly bytes: Buffer | null };

async function judge(
  net: NetChange,
  {
    kept,
    direction,
    conceal,
    wanted,
    found,
  }: Omit<RestoreOptions, "replaced" | "left"> & {
    readonly wanted: Entry | null;
    readonly found: Found;
  },
): Promise<Judgement> {
  const refusedAs = (reason: string, diff: string | null = null): Judgement => {
    return { outcome: "refused", reason, diff, bytes: null };
  };
  const place = await kept.place();
  const other = net.changes.find((change) => change.place !== place);
  if (other !== undefined) {
    return refusedAs(
      other.place === null
        ? "its content before was not kept, because it is too large or nothing could be written to the folder of the user's state"
        : `its content before is kept on another machine (${other.host}) or for another user`,
    );
  }
  if (!net.isWhole) {
    return refusedAs("something else changed it between two changes of the exchange");
  }
  if (isSameEntry(found.entry, wanted)) {
    return { outcome: "unchanged", reason: null, diff: null, bytes: null };
  }
  const expected = direction === "undo" ? net.afterwards : [net.before];
  if (expected.some((entry) => entry?.kind === "file" && entry.hash === null)) {
    return refusedAs(
      "it is too large to be recorded, so nobody knows whether it was changed since",
    );
  }
  if (!expected.some((entry) => isSameEntry(entry, found.entry))) {
    const [left = null] = expected;
    const side = { entry: left, bytes: await bytesOf(kept, net, left) };
    const { diff } = await entryDiff({ path: net.path, before: side, after: found, conceal });
    return refusedAs("it was changed since; if a later exchange did that, undo it first", diff);
  }
  const bytes = await bytesOf(kept, net, wanted);
  if (wanted?.kind === "file" && bytes === null) {
    return refusedAs("its content is not kept any more, or was too large to be kept");
  }
  const after = { entry: wanted, bytes };
  const { diff } = await entryDiff({ path: net.path, before: found, after, conceal });
  return { outcome: "restored", reason: null, diff, bytes };
}

/**
 * Finds, before anything is changed, the folders that cannot go because something else is in them: deepest first, so
 * that one that stays keeps those above it.
 */
export async function judgeFolders(steps: readonly Step[]): Promise<void> {
  const going = steps.filter(({ outcome, found }) => {
    return outcome.outcome === "restored" && found.entry !== null;
  });
  for (const step of going.toSorted((a, b) => depth(b) - depth(a))) {
    const { wanted, found, net } = step;
    if (found.entry?.kind !== "folder" || wanted?.kind === "folder") {
      continue;
    }
    const gone = going.filter(
      (other) =>
        other.outcome.outcome === "restored" &&
        other.net.root === net.root &&
        dirname(other.net.path) === net.path &&
        (other.wanted === null || isOtherKind(other)),
    );
    const names = new Set(gone.map((other) => basename(other.net.path)));
    const left = await namesIn(net);
    if (left.some((name) => !names.has(name))) {
      step.outcome = occupied(step);
    }
  }
}

function occupied(step: Step): FileOutcome {
  return step.wanted === null
    ? { ...step.outcome, outcome: "unchanged", reason: "the folder holds other files" }
    : refused(step.net, SYSTEM_REASONS["ENOTEMPTY"] ?? "");
}

/** From the session whose tool kept them. */
export async function bytesOf(
  kept: KeptBytes,
  { changes }: NetChange,
  entry: Entry | null,
): Promise<Buffer | null> {
  if (entry?.kind !== "file" || entry.hash === null) {
    return null;
  }
  const sessions = changes.flatMap((change) => [change.session_id, change.kept_for ?? []].flat());
  for (const session_id of new Set(sessions)) {
    const bytes = await kept.read(session_id, entry.hash);
    if (bytes !== null) {
      return bytes;
    }
  }
  return null;
}

/**
 * Puts back what the steps say, each path on its own: what cannot be put back is refused, and the rest is done.
 * Killed in the middle, the same can be done again.
 */
export async function restore(steps: readonly Step[]): Promise<void> {
  const due = (): readonly Step[] => steps.filter(({ outcome }) => outcome.outcome === "restored");
  const upwards = (all: readonly Step[]): readonly Step[] =>
    all.toSorted((a, b) => depth(b) - depth(a));
  const folders = new Map(steps.map(({ net }) => [dirname(`${net.root}/${net.path}`), net]));
  for (const net of folders.values()) {
    // a file that cannot be read is refused below
    await tidy(net).catch(() => undefined);
  }
  for (const step of upwards(due())) {
    if (step.wanted === null || (step.found.entry !== null && isOtherKind(step))) {
      await attempt(step, () => put(step.net, step.found, null, null));
    }
  }
  for (const step of upwards(due()).toReversed()) {
    if (step.wanted?.kind === "folder" && step.found.entry?.kind !== "folder") {
      await attempt(step, () => makeFolder(step.net));
    }
  }
  for (const step of due()) {
    const { net, wanted, bytes } = step;
    if (wanted?.kind === "file" || wanted?.kind === "link") {
      const found = isOtherKind(step) ? NOTHING : step.found;
      await attempt(step, () => put(net, found, wanted, bytes));
    }
  }
  for (const step of upwards(due())) {
    const { net, wanted } = step;
    if (wanted?.kind === "folder" && wanted.mode !== null) {
      const { mode } = wanted;
      await attempt(step, () => setMode(net, mode));
    }
  }
}

const NOTHING: Found = { entry: null, bytes: null, stat: null };

/** A folder does not take the place of a file by itself, nor a file that of a folder. */
function isOtherKind({ wanted, found }: Step): boolean {
  return (wanted?.kind === "folder") !== (found.entry?.kind === "folder");
}

function depth({ net }: Step): number {
  return net.path.split("/").length;
}

async function attempt(step: Step, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const isFull = ["ENOTEMPTY", "EEXIST"].includes(systemCode(error) ?? "");
    step.outcome =
      isFull && step.wanted === null ? occupied(step) : refused(step.net, reasonOf(error));
  }
}

function refused({ path }: NetChange, reason: string): FileOutcome {
  return { path, outcome: "refused", reason, diff: null };
}

/** Returns the reason of an error at one path, which does not stop the others. */
function reasonOf(error: unknown): string {
  if (isRepriseError(error, "invalid_request")) {
    return error.message;
  }
  const code = systemCode(error);
  if (code === undefined) {
    throw error;
  }
  return SYSTEM_REASONS[code] ?? `the system refused it (${code})`;
}

const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: "its folder is not there any more",
  ENOTEMPTY: "a folder in its place holds other files",
  EACCES: "the system does not allow it",
  EPERM: "the system does not allow it",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
};
