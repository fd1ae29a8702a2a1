import { RepriseError } from "../../core/errors.ts";
import { threadId } from "../../core/threads.ts";
import { batches, keepBodies, textHash } from "../checkpoints/bodies.ts";
import { findThread, keepThread, markLatest } from "../checkpoints/threads.ts";
import { at } from "../checkpoints/value.ts";
import type { Tx } from "../store.ts";
import type { PortableThread } from "./export-schema.ts";
import { mapMemberIds, mapWriteIds } from "./read-thread.ts";
import { type IdMap, mapIds } from "./map-ids.ts";

/** Stores a thread of a new session. Error codes: `session_exists` if it exists already. */
export async function writeThread(
  tx: Tx,
  sessionId: string,
  portable: PortableThread,
): Promise<void> {
  const id = threadId(sessionId, portable.suffix);
  if ((await findThread(tx, id)) !== null) {
    throw new RepriseError(
      "session_exists",
      "The database holds checkpoints of a session with this id; import it with --new-ids.",
    );
  }
  const thread = await keepThread(tx, id);
  const bodies = await keepBodies(tx, {
    thread,
    bodies: portable.bodies.map((text) => ({ hash: textHash(text), text })),
    found: new Map(),
  });
  const lists = await writeLists(tx, { thread, portable, bodies });
  const ids: IdMap = {
    body: (position) => at(bodies, position),
    list: (position) => at(lists, position),
  };
  const checkpoints = await writeCheckpoints(tx, { thread, portable, ids });
  await writeWrites(tx, { thread, portable, ids });
  const { folded } = portable;
  await tx.db
    .updateTable("threads")
    .set({
      folded_checkpoint: checkpoints[folded.checkpoints - 1] ?? 0,
      folded_body: bodies[folded.bodies - 1] ?? 0,
      folded_list: lists[folded.lists - 1] ?? 0,
    })
    .where("id", "=", thread)
    .execute();
  // of numbers that this database gave out, so it is created again
  await markLatest(tx, { thread, thread_id: id });
}

interface ThreadToWrite {
  readonly thread: number;
  readonly portable: PortableThread;
}

async function writeLists(
  tx: Tx,
  { thread, portable, bodies }: ThreadToWrite & { readonly bodies: readonly number[] },
): Promise<number[]> {
  const lists: { readonly id: number; readonly depth: number }[] = [];
  for (const { base, base_length, items } of portable.lists) {
    const below = base === null ? null : at(lists, base);
    const depth = below === null ? 0 : below.depth + 1;
    const { id } = await tx.db
      .insertInto("checkpoint_lists")
      .values({
        thread,
        base: below?.id ?? null,
        base_length,
        length: base_length + items.length,
        depth,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    const rows = items.map((body, index) => ({
      list: id,
      position: base_length + index,
      body: at(bodies, body),
    }));
    for (const batch of batches(rows)) {
      await tx.db.insertInto("checkpoint_list_items").values(batch).execute();
    }
    lists.push({ id, depth });
  }
  return lists.map(({ id }) => id);
}

/** In their order, because the latest is the one that was stored last. Returns their ids. */
async function writeCheckpoints(
  tx: Tx,
  { thread, portable, ids }: ThreadToWrite & { readonly ids: IdMap },
): Promise<number[]> {
  const stored: number[] = [];
  for (const batch of batches(portable.checkpoints)) {
    const rows = batch.map((checkpoint) => ({
      ...checkpoint,
      thread,
      shape: ids.body(checkpoint.shape),
      channels: JSON.stringify(mapMemberIds(checkpoint.channels, ids)),
      metadata: JSON.stringify(mapIds(checkpoint.metadata, ids)),
    }));
    const added = await tx.db.insertInto("checkpoints").values(rows).returning("id").execute();
    stored.push(...added.map(({ id }) => id));
  }
  return stored.sort((a, b) => a - b);
}

async function writeWrites(
  tx: Tx,
  { thread, portable, ids }: ThreadToWrite & { readonly ids: IdMap },
): Promise<void> {
  for (const batch of batches(portable.writes)) {
    const rows = batch.map((row) => ({
      ...row,
      thread,
      writes: JSON.stringify(row.writes.map((write) => mapWriteIds(write, ids))),
    }));
    await tx.db.insertInto("checkpoint_writes").values(rows).execute();
  }
}
