import type { Operation, Tx } from "../store.ts";
import { type Parameter, prepared, type QueryParts } from "../engines/prepared.ts";
import { type Fence, FENCED_COLUMNS, requireHeld } from "../leases/fence.ts";
import { chainOf, markHash, markHead, messagesOf } from "./head-mark.ts";
import { hashesOf } from "./lists.ts";
import type { StoredValue } from "./value.ts";

/** The number of a thread; null for one that has no checkpoints. */
export async function findThread(tx: Tx, threadId: string): Promise<number | null> {
  const row = await tx.db
    .selectFrom("checkpoint_threads")
    .select("id")
    .where("thread_id", "=", threadId)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** The number of a thread, given out where it has none yet. */
export async function keepThread(tx: Tx, threadId: string): Promise<number> {
  const known = await findThread(tx, threadId);
  if (known !== null) {
    return known;
  }
  const row = await tx.db
    .insertInto("checkpoint_threads")
    .values({ thread_id: threadId })
    .onConflict((conflict) =>
      conflict
        .column("thread_id")
        .doUpdateSet((eb) => ({ thread_id: eb.ref("excluded.thread_id") })),
    )
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export interface HoldThread {
  readonly thread_id: string;
  readonly fence: Fence | null;
  /** A checkpoint to read along. */
  readonly ns?: string;
  readonly parent_id?: string | null;
}

export interface HeldThread {
  /** Null for a thread that has no checkpoints. */
  readonly id: number | null;
  /** The checkpoint's channels as stored; null without the checkpoint. */
  readonly parent_channels: string | null;
}

/**
 * Keeps other writers from a thread until the transaction ends: by the lease of its session, or,
 * where nobody needs one, by the thread's own row. Error codes: as `holdFence`.
 */
export async function holdThread(tx: Tx, input: HoldThread): Promise<HeldThread> {
  const { thread_id, fence, ns = "", parent_id = null } = input;
  const wanted = { thread_id, ns, parent_id };
  if (fence === null) {
    const [held] = await tx.rows(unfencedThread, wanted);
    return held ?? { id: null, parent_channels: null };
  }
  const [row] = await tx.rows(fencedThread, { ...wanted, session_id: fence.session_id });
  requireHeld(row, fence);
  return { id: row?.id ?? null, parent_channels: row?.parent_channels ?? null };
}

interface Wanted {
  readonly thread_id: string;
  readonly ns: string;
  readonly parent_id: string | null;
}

const fencedThread = prepared((parts, given: Parameter<Wanted & { readonly session_id: string }>) =>
  parts.db
    .selectFrom("sessions")
    .select(FENCED_COLUMNS)
    .select([
      parts.db
        .selectFrom("checkpoint_threads")
        .select("checkpoint_threads.id")
        .where("thread_id", "=", given("thread_id"))
        .as("id"),
      channelsOf(parts, given).as("parent_channels"),
    ])
    .where("sessions.id", "=", given("session_id"))
    .modifyEnd(parts.dialect.forUpdate),
);

const unfencedThread = prepared((parts, given: Parameter<Wanted>) =>
  parts.db
    .selectFrom("checkpoint_threads")
    .select(["id", channelsOf(parts, given).as("parent_channels")])
    .where("thread_id", "=", given("thread_id"))
    .modifyEnd(parts.dialect.forUpdate),
);

function channelsOf({ db }: QueryParts, given: Parameter<Wanted>) {
  return db
    .selectFrom("checkpoints as parent")
    .innerJoin("checkpoint_threads as of", "of.id", "parent.thread")
    .select("channels")
    .where("of.thread_id", "=", given("thread_id"))
    .where("ns", "=", given("ns"))
    .where("checkpoint_id", "=", given("parent_id"));
}

export interface DeleteThread {
  readonly thread_id: string;
  readonly fence: Fence | null;
}

/**
 * Deletes everything that was kept of a thread; the mirror keeps its messages. A thread that does
 * not exist is deleted already. Error codes: as `holdFence`.
 */
export const deleteThread: Operation<DeleteThread, void> = async (tx, input) => {
  await holdThread(tx, input);
  await tx.db.deleteFrom("checkpoint_threads").where("thread_id", "=", input.thread_id).execute();
};

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
