import type { Tx } from "../store.ts";
import { chainOf, markHash, markHead, messagesOf } from "./head-mark.ts";
import { hashesOf } from "./lists.ts";
import type { StoredValue } from "./value.ts";

/** Marks the latest root checkpoint of a thread that was stored as a whole; none without one. */
export async function markLatest(
  tx: Tx,
  { thread, thread_id }: { readonly thread: number; readonly thread_id: string },
): Promise<void> {
  const head = await tx.db
    .selectFrom("checkpoints")
    .select(["id", "checkpoint_id", "ts", "shape", "versions", "channels", "metadata"])
    .where("thread", "=", thread)
    .where("ns", "=", "")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (head === undefined) {
    return;
  }
  const { id: row, ...columns } = head;
  const messages = messagesOf(JSON.parse(columns.channels) as Record<string, StoredValue>);
  const chain = chainOf(messages === null ? [] : await hashesOf(tx, messages));
  const { length } = chain;
  await markHead(tx, { thread, row, length, hash: markHash(thread_id, { chain, columns }) });
}
