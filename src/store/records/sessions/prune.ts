import type { SessionState } from "../../../core/sessions.ts";
import type { Operation, Tx } from "../../store.ts";
import { holdFamilies } from "../threads/families.ts";
import {
  deleteSessionTree,
  type DeletionPreview,
  holdTree,
  previewDeletion,
} from "./delete-tree.ts";

export interface Prunable {
  /** Milliseconds since the last activity, by the database's clock. */
  readonly older_than_ms: number;
  /** Only sessions in this state; null for any. Sub-agents go with their parent in any state. */
  readonly state: SessionState | null;
  /** True for sessions with an exchange that is queued or waits for a person, too. */
  readonly waiting?: boolean;
}

/**
 * The sessions that pruning would delete, the one that was quiet longest first, each with what is
 * below it. A session counts as active as the latest of its sub-agents: one that is younger, running,
 * pinned, or has something left to run, keeps the whole. A sub-agent never goes without its parent.
 */
export const readPrunable: Operation<Prunable, readonly (readonly DeletionPreview[])[]> = async (
  tx,
  input,
) => {
  const rows = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("parent_session_id", "is", null)
    .where("last_activity_at", "<", tx.dialect.now(-input.older_than_ms))
    .orderBy("last_activity_at")
    .orderBy("id")
    .execute();
  const trees: (readonly DeletionPreview[])[] = [];
  for (const { id } of rows) {
    const tree = await previewDeletion(tx, { id });
    if (await isPrunable(tx, tree, input)) {
      trees.push(tree);
    }
  }
  return trees;
};

/**
 * Deletes one of them, unless it was used or pinned since it was read, or is gone: then the answer is empty.
 */
export const pruneSession: Operation<
  Prunable & { readonly id: string },
  readonly DeletionPreview[]
> = async (tx, input) => {
  await holdFamilies(tx);
  await holdTree(tx, input.id);
  const root = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", input.id)
    .executeTakeFirst();
  const tree = root === undefined ? [] : await previewDeletion(tx, root);
  return (await isPrunable(tx, tree, input)) ? deleteSessionTree(tx, input) : [];
};

async function isPrunable(
  tx: Tx,
  tree: readonly DeletionPreview[],
  { older_than_ms, state, waiting = false }: Prunable,
): Promise<boolean> {
  const [root] = tree;
  if (root === undefined || (state !== null && root.session.state !== state)) {
    return false;
  }
  if (tree.some(({ session }) => session.activity === "running" || session.pinned_at !== null)) {
    return false;
  }
  const ids = tree.map(({ session }) => session.id);
  const young = await tx.db
    .selectFrom("sessions")
    .select("id")
    .where("id", "in", ids)
    .where("last_activity_at", ">=", tx.dialect.now(-older_than_ms))
    .executeTakeFirst();
  if (young !== undefined || waiting) {
    return young === undefined;
  }
  const open = await tx.db
    .selectFrom("exchanges")
    .select("n")
    .where("session_id", "in", ids)
    .where("ended_at", "is", null)
    .where("state", "in", ["queued", "waiting"])
    .executeTakeFirst();
  return open === undefined;
}
