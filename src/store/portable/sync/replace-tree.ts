import { RepriseError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { isGone } from "../../records/leases/this-process.ts";
import { deleteSessionTree, holdTree } from "../../records/sessions/delete-tree.ts";
import { batches } from "../../records/threads/bodies.ts";
import { holdFamilies } from "../../records/threads/families.ts";
import type { Operation, Tx } from "../../store.ts";
import { type SessionTree, sessionsOf } from "../export-schema.ts";
import { checksumOf } from "../export-text.ts";
import { readSessionTree } from "../read-tree.ts";
import { readWatchedTree } from "../read-watched-tree.ts";
import { writeTree } from "../write-tree.ts";
import { commonLengths, type KeptFork } from "./kept-fork.ts";
import { readDeleted } from "./outline.ts";
import { readOwnRows, writeOwnRows } from "./own-rows.ts";

/** False if somebody has changed the session since it was read: nothing was done. */
type IsDone = boolean;

export interface ReplaceTree {
  /** Checksum of the session in this database as it was when this was decided. */
  readonly known: string;
  /** The history that is stored in its place, under the same id. */
  readonly tree: SessionTree;
  /** The replaced history, which is stored as a fork; null if the new one continues it. */
  readonly kept: KeptFork | null;
}

/**
 * Replaces a session and its sub-agents in one transaction, and reads the new ones again before it commits. What is of
 * this database alone stays.
 *
 * Error codes: `session_exists` if another session has the id of a sub-agent; `internal` if the database returns
 * something else than was written; as `readSessionTree`.
 */
export const replaceTree: Operation<ReplaceTree, IsDone> = async (tx, { known, tree, kept }) => {
  const { id } = tree.session;
  await holdFamilies(tx);
  await holdTree(tx, id);
  const now = await readWatchedTree(tx, { id });
  if (checksumOf(now.tree) !== known || now.owners.some((owner) => !isGone(owner))) {
    return false;
  }
  if (kept !== null && (await readDeleted(tx, [kept.tree.session.id])).size > 0) {
    return false;
  }
  const before = [...sessionsOf(now.tree)].map(({ session }) => session.id);
  const own = await readOwnRows(tx, before);
  await deleteSessionTree(tx, { id });
  await writeProved(tx, tree);
  if (kept !== null && (await isMissing(tx, kept.tree.session.id))) {
    await writeProved(tx, kept.tree);
  }
  await writeOwnRows(tx, own, {
    tree,
    before: now.tree,
    common: commonLengths(now.tree, tree),
    kept: kept === null ? new Map<string, string>() : await storedOf(tx, kept.ids),
  });
  await forgetDeletionsOf(tx, before);
  return true;
};

/** Stores a tree, if the database neither has it nor knows that it was deleted. Error codes: as `replaceTree`. */
export const addTree: Operation<{ readonly tree: SessionTree }, IsDone> = async (tx, { tree }) => {
  await holdFamilies(tx);
  if (!(await isMissing(tx, tree.session.id))) {
    return false;
  }
  await writeProved(tx, tree);
  return true;
};

/** The new ids that sessions have. */
async function storedOf(tx: Tx, ids: KeptFork["ids"]): Promise<KeptFork["ids"]> {
  const stored = new Set<string>();
  for (const batch of batches([...ids.values()])) {
    const rows = await tx.db.selectFrom("sessions").select("id").where("id", "in", batch).execute();
    for (const { id } of rows) {
      stored.add(id);
    }
  }
  return new Map([...ids].filter(([, id]) => stored.has(id)));
}

async function isMissing(tx: Tx, id: string): Promise<boolean> {
  const found = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", id)
    .executeTakeFirst();
  return found === undefined && (await readDeleted(tx, [id])).size === 0;
}

async function writeProved(tx: Tx, tree: SessionTree): Promise<void> {
  const { id } = tree.session;
  // what another database says of the marks of its prefixes counts for nothing
  await writeTree(tx, tree, { root: id, markOf: newId });
  if (checksumOf(await readSessionTree(tx, { id })) !== checksumOf(tree)) {
    throw new RepriseError(
      "internal",
      "The database returned this session with different content, so it was rolled back. Please report this.",
    );
  }
}

/** The sessions are there again, or in the fork. */
async function forgetDeletionsOf({ db }: Tx, ids: readonly string[]): Promise<void> {
  for (const batch of batches(ids)) {
    await db.deleteFrom("deleted_sessions").where("id", "in", batch).execute();
  }
}
