import { batches } from "../checkpoints/bodies.ts";
import { chainOf, markHash } from "../checkpoints/head-mark.ts";
import type { BodyRow } from "../checkpoints/read.ts";
import type { Tx } from "../store.ts";
import type { ThreadHead } from "./mirror.ts";

/** What is wrong with the latest checkpoint of a thread. */
export type HeadFault =
  /** Its rows do not fit together. */
  | "unreadable"
  /** A later one was stored and is gone. */
  | "lost"
  /** It is not as it was stored. */
  | "changed"
  /** It holds messages of another thread. */
  | "foreign";

/**
 * Compares the latest checkpoint that can be read with the thread's mark. A thread that has none
 * is believed, and so is a checkpoint that an older Reprise put after the marked one.
 */
export async function headFault(
  tx: Tx,
  head: ThreadHead,
  messages: readonly BodyRow[],
): Promise<HeadFault | null> {
  if (head.head_row > head.row) {
    return "lost";
  }
  if (head.head_row === head.row) {
    const chain = chainOf(messages.map(({ hash }) => hash));
    const hash = markHash(head.thread_id, { chain, columns: head });
    return chain.length === head.head_length && hash === head.head_hash ? null : "changed";
  }
  if (await hasForeignBody(tx, head, messages)) {
    return "foreign";
  }
  return head.head_row === 0 || (await followsMark(tx, head)) ? null : "changed";
}

async function hasForeignBody(
  tx: Tx,
  { thread }: ThreadHead,
  messages: readonly BodyRow[],
): Promise<boolean> {
  for (const ids of batches(messages.map(({ id }) => id))) {
    const foreign = await tx.db
      .selectFrom("checkpoint_bodies")
      .select("id")
      .where("id", "in", ids)
      .where("thread", "!=", thread)
      .limit(1)
      .executeTakeFirst();
    if (foreign !== undefined) {
      return true;
    }
  }
  return false;
}

/**
 * True where a later checkpoint than the marked one goes back, parent by parent, to a row that was
 * there when the mark was set. A fold by an older Reprise may have taken the marked one away.
 */
async function followsMark(tx: Tx, { thread, head_row, ...head }: ThreadHead): Promise<boolean> {
  const rows = await tx.db
    .selectFrom("checkpoints")
    .select(["id", "checkpoint_id", "parent_id"])
    .where("thread", "=", thread)
    .where("ns", "=", "")
    .execute();
  const byId = new Map(rows.map((row) => [row.checkpoint_id, row]));
  const seen = new Set<string>();
  let { row, parent_id } = head;
  while (row > head_row && parent_id !== null && !seen.has(parent_id)) {
    seen.add(parent_id);
    const parent = byId.get(parent_id);
    if (parent === undefined) {
      return false;
    }
    row = parent.id;
    parent_id = parent.parent_id;
  }
  return row <= head_row || (parent_id === null && !rows.some(({ id }) => id === head_row));
}
