import { isRepriseError, RepriseError } from "../../../core/errors.ts";
import { MAX_EXPORT_BYTES } from "../../../core/limits.ts";
import { type DeletionPreview, deleteSessionTree } from "../../records/sessions/delete-tree.ts";
import type { ReadOnlyStore, Store } from "../../store.ts";
import { type SessionTree, sessionsOf } from "../export-schema.ts";
import { compareTrees, isLater } from "./compare-trees.ts";
import { findFork, refusePinned } from "./find-fork.ts";
import { type History, idsOf, readHistory, requireSound, without } from "./history.ts";
import { type Labels, labelsToSet, setLabels } from "./labels.ts";
import { findSession, type Outline, readDeleted, refuseTaken } from "./outline.ts";
import { addTree, replaceTree } from "./replace-tree.ts";

/** A database that is synced. */
export interface SyncSide {
  /** Name in sentences, such as "this database". */
  readonly name: string;
  readonly read: ReadOnlyStore["read"];
  /** Null for a rehearsal, which stores nothing. */
  readonly write: Store["write"] | null;
  /** Called with the sessions that were deleted in it. */
  readonly onDeleted: (deleted: readonly DeletionPreview[]) => void;
}

export interface SyncDatabases {
  readonly here: SyncSide;
  readonly there: SyncSide;
  /** The time at which exchanges count as stopped that were never begun. */
  readonly now: string;
  /** Bytes of a session above which it is skipped; `MAX_EXPORT_BYTES` if not given. */
  readonly maxBytes?: number;
}

/** Changes of a session in a database. */
export type Effect = "none" | "added" | "updated" | "deleted";

export interface Effects {
  readonly here: Effect;
  readonly there: Effect;
  /** Id of the fork that has the other one of two histories that went apart; null if they did not. */
  readonly fork: string | null;
  /** Id of that fork if it was deleted in one of them: the other history is in neither any more. Null if it was not. */
  readonly deleted_fork: string | null;
}

/** Callbacks of a sync of one session. */
export interface SyncReport {
  /** Called before anything is done, with the name or title that the session has. */
  readonly onFound: (title: string | null) => void;
  /** Called with a fork that needs no further comparison: it is stored with the session that it is a fork of. */
  readonly onFork: (id: string) => void;
  /** Called for each sub-agent that was deleted alone. */
  readonly onDeletedBelow: (id: string, effects: Effects) => void;
}

export type SyncSession = SyncDatabases & SyncReport;

type Name = "here" | "there";
const OTHER = { here: "there", there: "here" } as const;
export const NONE: Effects = { here: "none", there: "none", fork: null, deleted_fork: null };

/**
 * Syncs a session with its sub-agents. Null if somebody changed it meanwhile: what was done is a part of what is to be done.
 *
 * Error codes: `session_busy` while an exchange runs or a message is queued in one that would be replaced;
 * `session_exists`, also for a pinned session that the other database has deleted; `body_too_large`; `export_invalid` and `database_corrupt` if one of the histories is damaged;
 * `internal`.
 */
export async function syncSession(input: SyncSession, id: string): Promise<Effects | null> {
  const here = await input.here.read(findSession, { id });
  const there = await input.there.read(findSession, { id });
  input.onFound(here.outline?.title ?? there.outline?.title ?? null);
  refuse(input.here, here.outline, input.maxBytes);
  refuse(input.there, there.outline, input.maxBytes);
  if (here.outline !== null && there.outline !== null) {
    return here.outline.text === there.outline.text ? NONE : syncBoth(input, id);
  }
  const [from, isDeleted]: readonly [Name, boolean] =
    here.outline === null ? ["there", here.isDeleted] : ["here", there.isDeleted];
  const outline = here.outline ?? there.outline;
  if (outline === null) {
    return NONE;
  }
  if (isDeleted && outline.isPinned) {
    throw new RepriseError(
      "session_exists",
      `The session was deleted in ${input[OTHER[from]].name}, and is pinned in ${input[from].name}. Unpin it to delete it here, too.`,
    );
  }
  return isDeleted ? remove(input, { id, from }) : add(input, { id, from });
}

function refuse({ name }: SyncSide, outline: Outline | null, maxBytes = MAX_EXPORT_BYTES): void {
  if (outline === null) {
    return;
  }
  if (!outline.isRoot) {
    throw new RepriseError(
      "session_exists",
      `A sub-agent in ${name} has the id of this session. Delete one of them.`,
    );
  }
  if (outline.isHeld) {
    throw new RepriseError(
      "session_busy",
      `An exchange is running in this session or in a sub-agent of it, in ${name}. Run the command again when it has finished.`,
    );
  }
  if (outline.bytes > maxBytes) {
    throw new RepriseError(
      "body_too_large",
      `The session in ${name} is larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB. Copy it with \`reprise copy --session\`.`,
    );
  }
}

interface OneSide {
  readonly id: string;
  readonly from: Name;
}

async function add(input: SyncSession, { id, from }: OneSide): Promise<Effects | null> {
  const to = OTHER[from];
  const history = await readHistory(input[from], { id, now: input.now });
  if (history === null) {
    return null;
  }
  const { tree } = history;
  requireSound(input[from], tree);
  await input[to].read(refuseTaken, { ids: idsOf(tree), root: null });
  const isDone = (await input[to].write?.(addTree, { tree })) ?? true;
  return isDone ? { ...NONE, [to]: "added" } : null;
}

async function remove(input: SyncSession, { id, from }: OneSide): Promise<Effects> {
  await deleteIn(input[from], id);
  return { ...NONE, [from]: "deleted" };
}

async function deleteIn({ write, onDeleted }: SyncSide, id: string): Promise<void> {
  try {
    const deleted = await write?.(deleteSessionTree, { id });
    onDeleted(deleted ?? []);
  } catch (error) {
    if (!isRepriseError(error, "session_not_found")) {
      throw error;
    }
  }
}

type Histories = Readonly<Record<Name, History>>;

async function syncBoth(input: SyncSession, id: string): Promise<Effects | null> {
  const { now } = input;
  const here = await readHistory(input.here, { id, now });
  const there = await readHistory(input.there, { id, now });
  if (here === null || there === null) {
    return null;
  }
  const found = { here, there };
  const gone = {
    here: await deletedBelow(found, { in: "here", by: input.there }),
    there: await deletedBelow(found, { in: "there", by: input.here }),
  };
  const deleted = (["here", "there"] as const).flatMap((name) =>
    gone[name].map((each) => [name, each] as const),
  );
  for (const [name, each] of deleted) {
    await deleteIn(input[name], each);
    input.onDeletedBelow(each, { ...NONE, [name]: "deleted" });
  }
  if (deleted.length > 0 && input.here.write !== null) {
    return syncSession(input, id);
  }
  return merge(input, { here: without(here, gone.here), there: without(there, gone.there) });
}

/** The highest sub-agents of a history that the other database does not have any more. */
async function deletedBelow(
  found: Histories,
  { in: name, by }: { readonly in: Name; readonly by: SyncSide },
): Promise<readonly string[]> {
  const others = new Set(idsOf(found[OTHER[name]].tree));
  const missing = [...sessionsOf(found[name].tree)].filter(
    ({ session }) => !others.has(session.id),
  );
  const ids = missing.map(({ session }) => session.id);
  const deleted = await by.read(readDeleted, ids);
  return missing
    .filter(
      ({ session }) => deleted.has(session.id) && !deleted.has(session.parent_session_id ?? ""),
    )
    .map(({ session }) => session.id);
}

async function merge(input: SyncSession, found: Histories): Promise<Effects | null> {
  const order = compareTrees(found.here.tree, found.there.tree);
  if (order === "same") {
    return labelBoth(input, found);
  }
  const isHere =
    order === "first" || (order === "apart" && isLater(found.here.tree, found.there.tree));
  return replace(input, { found, main: isHere ? "here" : "there", isApart: order === "apart" });
}

async function labelBoth(input: SyncSession, found: Histories): Promise<Effects | null> {
  let effects = NONE;
  for (const name of ["here", "there"] as const) {
    const { tree } = found[name];
    const labels = labelsToSet(tree, found[OTHER[name]].tree);
    if (labels.length > 0) {
      requireSound(input[OTHER[name]], found[OTHER[name]].tree);
      if (!(await label(input[name], tree, labels))) {
        return null;
      }
      effects = { ...effects, [name]: "updated" };
    }
  }
  return effects;
}

async function label(
  { write }: SyncSide,
  { session }: SessionTree,
  labels: readonly Labels[],
): Promise<boolean> {
  return (await write?.(setLabels, { root: session.id, labels })) ?? true;
}

interface Replacing {
  readonly found: Histories;
  /** The database whose history keeps the id. */
  readonly main: Name;
  /** True if the other history stays, too. */
  readonly isApart: boolean;
}

/**
 * First the labels are stored with the history that counts, then it is stored in the other database, with the one that
 * it replaces, and last the fork comes to the first database: killed between two of them, another run does the rest.
 */
async function replace(
  input: SyncSession,
  { found, main, isApart }: Replacing,
): Promise<Effects | null> {
  const [side, target] = [input[main], input[OTHER[main]]];
  const [counts, lost] = [found[main], found[OTHER[main]]];
  const fork = isApart ? await findFork(input, lost.tree, counts.tree) : null;
  const kept = fork?.isDeleted === false ? fork.kept : null;
  if (fork?.isDeleted === true) {
    refusePinned(target, lost.tree, fork.kept);
  }
  requireSound(side, counts.tree);
  const labels = labelsToSet(counts.tree, lost.tree);
  if (labels.length > 0) {
    requireSound(target, lost.tree);
  }
  if (kept !== null) {
    requireSound(target, kept.tree);
  }
  refuseQueue(target, lost);
  const { id } = counts.tree.session;
  await target.read(refuseTaken, { ids: idsOf(counts.tree), root: id });
  const isLabelled = labels.length === 0;
  const effects: Effects = {
    ...NONE,
    [main]: isLabelled ? "none" : "updated",
    [OTHER[main]]: "updated",
    fork: kept?.tree.session.id ?? null,
    deleted_fork: fork?.isDeleted === true ? fork.kept.tree.session.id : null,
  };
  if (side.write === null || target.write === null) {
    return effects;
  }
  if (!isLabelled && !(await label(side, counts.tree, labels))) {
    return null;
  }
  const stored = isLabelled ? counts : await readHistory(side, { id, now: input.now });
  const replacement = { known: lost.known, tree: stored?.tree ?? counts.tree, kept };
  if (stored === null || !(await target.write(replaceTree, replacement))) {
    return null;
  }
  if (kept !== null) {
    await side.write(addTree, { tree: kept.tree });
  }
  return effects;
}

function refuseQueue({ name }: SyncSide, { isQueued }: History): void {
  if (isQueued) {
    throw new RepriseError(
      "session_busy",
      `A message waits in the queue of this session in ${name}, and the other database has a longer history. Run the command again when the message was answered or withdrawn.`,
    );
  }
}
