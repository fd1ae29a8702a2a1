import { RepriseError } from "../../core/errors.ts";
import { threadId } from "../../core/threads.ts";
import { batches, keepBodies, textHash } from "../records/threads/bodies.ts";
import { findThread, keepThread, markLatest } from "../checkpoints/threads.ts";
import { at, metadataText } from "../checkpoints/value.ts";
import type { Tx } from "../store.ts";
import type { PortableThread, ThreadContent, ThreadStructure } from "./portable-threads.ts";
import { mapMemberIds, mapWriteIds } from "./read-thread.ts";
import { type IdMap, mapIds } from "./map-ids.ts";

/** Stores a thread of a new session. Error codes: `session_exists` if it exists already. */
export async function writeSessionThread(
  tx: Tx,
  sessionId: string,
  { suffix, ...content }: PortableThread,
): Promise<void> {
  const thread_id = threadId(sessionId, suffix);
  if ((await findThread(tx, thread_id)) !== null) {
    throw new RepriseError(
      "session_exists",
      "The database holds checkpoints of a session with this id; import it with --new-ids.",
    );
  }
  await writeThread(tx, { thread: await keepThread(tx, thread_id), thread_id, content });
}

interface NewThread {
  readonly thread: number;
  readonly thread_id: string;
  readonly content: ThreadContent;
}

/** Stores what a thread has that was just created. */
export async function writeThread(
  tx: Tx,
  { thread, thread_id, content }: NewThread,
): Promise<void> {
  const bodies = await keepBodies(tx, {
    thread,
    bodies: content.bodies.map((text) => ({ hash: textHash(text), text })),
    found: new Map(),
  });
  await writeStructure(tx, { thread, thread_id, structure: content, bodies });
}

interface ThreadToWrite {
  readonly thread: number;
  readonly structure: ThreadStructure;
}

/** Stores what a thread has besides its bodies, which are there, in the order of their ids. */
export async function writeStructure(
  tx: Tx,
  input: ThreadToWrite & { readonly thread_id: string; readonly bodies: readonly number[] },
): Promise<void> {
  const { thread, thread_id, structure, bodies } = input;
  const lists = await writeLists(tx, { thread, structure, bodies });
  const ids: IdMap = {
    body: (position) => at(bodies, position),
    list: (position) => at(lists, position),
  };
  const checkpoints = await writeCheckpoints(tx, { thread, structure, ids });
  await writeWrites(tx, { thread, structure, ids });
  const { folded } = structure;
  await tx.db
    .updateTable("threads")
    .set({
      folded_checkpoint: checkpoints[folded.checkpoints - 1] ?? 0,
      folded_body: bodies[folded.bodies - 1] ?? 0,
      folded_list: lists[folded.lists - 1] ?? 0,
    })
    .where("id", "=", thread)
    .execute();
  // creates the mark again: it has numbers that this database gave out
  await markLatest(tx, { thread, thread_id });
}

async function writeLists(
  tx: Tx,
  { thread, structure, bodies }: ThreadToWrite & { readonly bodies: readonly number[] },
): Promise<number[]> {
  const lists: { readonly id: number; readonly depth: number }[] = [];
  for (const { base, base_length, items } of structure.lists) {
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
export async function writeCheckpoints(
  tx: Tx,
  { thread, structure, ids }: ThreadToWrite & { readonly ids: IdMap },
): Promise<number[]> {
  const stored: number[] = [];
  for (const batch of batches(structure.checkpoints)) {
    const rows = batch.map((checkpoint) => ({
      ...checkpoint,
      thread,
      shape: ids.body(checkpoint.shape),
      channels: JSON.stringify(mapMemberIds(checkpoint.channels, ids)),
      metadata: metadataText(JSON.stringify(mapIds(checkpoint.metadata, ids))),
    }));
    const added = await tx.db.insertInto("checkpoints").values(rows).returning("id").execute();
    stored.push(...added.map(({ id }) => id));
  }
  return stored.sort((a, b) => a - b);
}

async function writeWrites(
  tx: Tx,
  { thread, structure, ids }: ThreadToWrite & { readonly ids: IdMap },
): Promise<void> {
  for (const batch of batches(structure.writes)) {
    const rows = batch.map((row) => ({
      ...row,
      thread,
      writes: JSON.stringify(row.writes.map((write) => mapWriteIds(write, ids))),
    }));
    await tx.db.insertInto("checkpoint_writes").values(rows).execute();
  }
}
