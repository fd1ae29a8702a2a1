import {
  type Entry,
  isSameEntry,
  type UnrecordedReason,
} from "../../../core/files/file-entries.ts";
import { changedIgnored, findIgnoredStates } from "./ignored-states.ts";
import { listIgnored } from "./ignored-paths.ts";
import { readFiles } from "./read-files.ts";
import { entryOf, isIn, type Recorded, type Snapshot } from "./snapshot.ts";
import { lookAtPaths, type Seen, type Tree, walkTree, type WalkLimits } from "./walk-tree.ts";

/** Change that a command made at a path. */
export interface FoundChange {
  readonly path: string;
  readonly before: Entry | null;
  readonly after: Entry | null;
  /** Entry from before; null for nothing, and if it is not recorded. */
  readonly recorded: Recorded | null;
  /** Bytes of a file that is there now, if they are not too many. */
  readonly bytes: Buffer | null;
}

export interface FindOptions {
  readonly own: ReadonlySet<string>;
  /** As of `SnapshotOptions`. */
  readonly at: string;
  readonly limits: WalkLimits;
  /** When the command began, as milliseconds since 1970. */
  readonly startedMs: number;
  /** Time after which a change may not be the command's. */
  readonly untilMs: number;
}

/** Paths of one reason that are named. */
const MAX_NAMED = 20;
/** Times of files are those of the last tick of a clock. */
const TICK_MS = 10;

/** Compares a folder with its snapshot: what can be put back first, then what cannot. Yields one path at a time. */
export async function* findChanges(
  snapshot: Snapshot,
  options: FindOptions,
): AsyncGenerator<FoundChange> {
  const { root } = snapshot;
  const { tree, ignored } = await readAgain(snapshot, options);
  const before = new Map(snapshot.recorded.map((each) => [each.path, each]));
  const late: string[] = [];
  const files: string[] = [];
  for (const [path, recorded] of before) {
    const seen = tree.seen.get(path);
    if (seen === undefined && !isHidden(path, tree)) {
      yield { path, before: recorded.entry, after: null, recorded, bytes: null };
    } else if (seen !== undefined && !isUntouched(recorded, seen, snapshot)) {
      if (seen.kind === "file") {
        files.push(path);
      } else if (!isSameEntry(recorded.entry, entryOf(seen))) {
        const after = isLate(seen, options) ? LATE : entryOf(seen);
        yield { path, before: recorded.entry, after, recorded, bytes: null };
      }
    }
  }
  const hidden = { others: new Map(snapshot.others) };
  for (const [path, seen] of snapshot.isWhole ? tree.seen : []) {
    if (before.has(path) || isHidden(path, hidden)) {
      continue;
    }
    if (isLate(seen, options)) {
      late.push(path);
    } else if (seen.kind === "file") {
      files.push(path);
    } else {
      yield { path, before: null, after: entryOf(seen), recorded: null, bytes: null };
    }
  }
  for await (const { path, entry, bytes } of readFiles(root, files, options.limits.bytes)) {
    const recorded = before.get(path) ?? null;
    const seen = tree.seen.get(path);
    const isOther = !isSameEntry(recorded?.entry ?? null, entry);
    if (isOther && recorded !== null && seen !== undefined && isLate(seen, options)) {
      yield { path, before: recorded.entry, after: LATE, recorded, bytes: null };
    } else if (isOther) {
      yield { path, before: recorded?.entry ?? null, after: entry, recorded, bytes };
    }
  }
  yield* unrecorded(late, "late");
  yield* unrecorded(otherPaths(snapshot, tree), "type");
  yield* unrecorded(ignored, "ignored");
  if (!snapshot.isWhole || !tree.isWhole) {
    yield* unrecorded(["."], "limit");
  }
}

const LATE: Entry = { kind: "unrecorded", reason: "late" };

async function readAgain(
  snapshot: Snapshot,
  { own, at, limits, startedMs }: FindOptions,
): Promise<{ readonly tree: Tree; readonly ignored: readonly string[] }> {
  const { root, recorded } = snapshot;
  const paths = recorded.map(({ path }) => path);
  if (!snapshot.isWhole) {
    return { tree: lookAtPaths(root, paths), ignored: [] };
  }
  const listed = await listIgnored(root, at);
  const known = isIn(paths);
  const before = new Map(snapshot.ignored);
  // a recorded path is compared, also if it is ignored now; one that was ignored was not recorded
  const ignoredNow = (listed ?? []).filter((path) => !known(path));
  const walked = await walkTree(root, {
    isIgnored: isIn([...before.keys(), ...ignoredNow]),
    own,
    knowsIgnored: listed !== null,
    limits: { files: 2 * limits.files, bytes: Number.POSITIVE_INFINITY },
  });
  const tree = walked.isWhole ? walked : lookAtPaths(root, paths);
  const now = new Map(
    findIgnoredStates(root, [...before.keys(), ...ignoredNow, ...walked.skipped]),
  );
  const sinceMs = startedMs - TICK_MS;
  return { tree, ignored: changedIgnored(root, { before, now, sinceMs }) };
}

/** Below a folder that cannot be read, or at a name that is something else now. */
function isHidden(path: string, { others }: Pick<Tree, "others">): boolean {
  if (others.size === 0) {
    return false;
  }
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    if (others.has(path.slice(0, end))) {
      return true;
    }
  }
  return others.has(".");
}

function isUntouched({ state, changedMs, entry }: Recorded, seen: Seen, { takenMs }: Snapshot) {
  const isKnown = entry.kind !== "file" || changedMs < takenMs - 5 * TICK_MS;
  return isKnown && state === seen.state;
}

/**
 * Says whether a change came too late. The time of a folder says only when something was made in it, and one that is
 * not empty is not removed.
 */
function isLate({ kind, changedMs }: Seen, { untilMs }: FindOptions): boolean {
  return kind !== "folder" && changedMs > untilMs;
}

function otherPaths(snapshot: Snapshot, { others }: Tree): string[] {
  const before = new Map(snapshot.others);
  return [...new Set([...before.keys(), ...others.keys()])].filter(
    (path) => before.get(path) !== others.get(path),
  );
}

function* unrecorded(paths: readonly string[], reason: UnrecordedReason): Generator<FoundChange> {
  const named = paths.slice(0, MAX_NAMED);
  for (const [index, path] of named.entries()) {
    const others = index === named.length - 1 ? paths.length - named.length : 0;
    const entry: Entry = { kind: "unrecorded", reason, ...(others === 0 ? {} : { others }) };
    yield { path, before: entry, after: entry, recorded: null, bytes: null };
  }
}
