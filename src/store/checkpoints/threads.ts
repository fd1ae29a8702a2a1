import { sql } from "kysely";

import type { Operation, Tx } from "../store.ts";
import { type Parameter, prepared, type QueryParts } from "../prepared.ts";
import { type Fence, FENCED_COLUMNS, holdFence, requireHeld } from "../records/leases/fence.ts";
import {
  isFenceOf,
  refuseWithoutLease,
  requireFreeThread,
} from "../records/threads/free-threads.ts";
import { bodiesByName, deleteThreads, holdFamilies } from "../records/threads/families.ts";
import { markHash, markHead, storedChain } from "./head-mark.ts";

/** The number of a thread; null for one that has no checkpoints. */
export async function findThread(tx: Tx, threadId: string): Promise<number | null> {
  const row = await tx.db
    .selectFrom("threads")
    .select("id")
    .where("thread_id", "=", threadId)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** The number of a thread; a new one if it has none yet. */
export async function keepThread(tx: Tx, threadId: string): Promise<number> {
  const known = await findThread(tx, threadId);
  if (known !== null) {
    return known;
  }
  const row = await tx.db
    .insertInto("threads")
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

/** A thread, and the lease of its session if it has one. */
export interface FencedThread {
  readonly thread_id: string;
  readonly fence: Fence | null;
}

export interface HoldThread extends FencedThread {
  /** A checkpoint to read in the same statement. */
  readonly ns?: string;
  readonly parent_id?: string | null;
  /** Bodies to search for, so few that one statement takes them. */
  readonly hashes?: readonly string[];
}

export interface HeldThread {
  /** Null for a thread that has no checkpoints. */
  readonly id: number | null;
  /** The checkpoint's channels as stored; null without the checkpoint. */
  readonly parent_channels: string | null;
  /** The id of the thread's latest root checkpoint; null for none. */
  readonly head_id: string | null;
  /** The ids of those of the bodies that the thread has, by hash. */
  readonly bodies: ReadonlyMap<string, number>;
}

/**
 * Keeps other writers from a thread until the transaction ends: by the lease of its session, or,
 * for a thread without a session, by the thread's row.
 *
 * Error codes: as `holdFence`; `lease_required` for a session's thread without the session's lease.
 */
export async function holdThread(tx: Tx, input: HoldThread): Promise<HeldThread> {
  const { thread_id, fence, ns = "", parent_id = null, hashes = [] } = input;
  const wanted = { thread_id, ns, parent_id, hashes };
  if (fence !== null && isFenceOf(fence, thread_id)) {
    const rows = await tx.rows(fencedThread, { ...wanted, session_id: fence.session_id });
    requireHeld(rows[0], fence);
    return heldThread(rows);
  }
  if (fence !== null) {
    await holdFence(tx, fence);
  }
  await refuseWithoutLease(tx, thread_id);
  const [row] = await tx.rows(unfencedThread, wanted);
  // rows that were read along may be from before a pruning that this had to wait for
  const isCurrent = row?.prunes === row?.prunes_seen;
  return heldThread(isCurrent ? [row] : await tx.rows(unfencedThread, wanted));
}

interface HeldRow {
  readonly id: number | null;
  readonly parent_channels: string | null;
  readonly head_id: string | null;
  /** `hash id`, with commas between. */
  readonly bodies: string | null;
}

function heldThread([row]: readonly (HeldRow | undefined)[]): HeldThread {
  const bodies = row?.bodies?.split(",").map((body) => body.split(" ")) ?? [];
  return {
    id: row?.id ?? null,
    parent_channels: row?.parent_channels ?? null,
    head_id: row?.head_id ?? null,
    bodies: new Map(bodies.map(([hash = "", id]) => [hash, Number(id)])),
  };
}

type Wanted = Required<Omit<HoldThread, "fence">>;

const fencedThread = prepared((parts, given: Parameter<Wanted & { readonly session_id: string }>) =>
  parts.db
    .selectFrom("sessions")
    .select(FENCED_COLUMNS)
    .select((eb) => [
      eb
        .selectFrom("threads as held")
        .select("held.id")
        .where("held.thread_id", "=", given("thread_id"))
        .as("id"),
      ...readAlong(parts, given),
    ])
    .where("sessions.id", "=", given("session_id"))
    .modifyEnd(parts.dialect.forUpdate),
);

const unfencedThread = prepared((parts, given: Parameter<Wanted>) =>
  parts.db
    .selectFrom("threads")
    .select(["threads.id", "threads.prunes", ...readAlong(parts, given)])
    .select(({ selectFrom }) =>
      selectFrom("threads as seen")
        .select("seen.prunes")
        .where("seen.thread_id", "=", given("thread_id"))
        .as("prunes_seen"),
    )
    .where("thread_id", "=", given("thread_id"))
    .modifyEnd(parts.dialect.forUpdate),
);

function readAlong({ db }: QueryParts, given: Parameter<Wanted>) {
  const hashes = given.all("hashes");
  const found = bodiesByName({ db }, given("thread_id"))
    .select(sql<string | null>`string_agg(hash || ' ' || checkpoint_bodies.id, ',')`.as("found"))
    .where("hash", "in", hashes);
  return [
    db
      .selectFrom("checkpoints as parent")
      .innerJoin("threads as of", "of.id", "parent.thread")
      .select("parent.channels")
      .where("of.thread_id", "=", given("thread_id"))
      .where("parent.ns", "=", given("ns"))
      .where("parent.checkpoint_id", "=", given("parent_id"))
      .as("parent_channels"),
    db
      .selectFrom("threads as marked")
      .innerJoin("checkpoints as head", "head.id", "marked.head_row")
      .select("head.checkpoint_id")
      .where("marked.thread_id", "=", given("thread_id"))
      .as("head_id"),
    (hashes.length === 0 ? sql<string | null>`null` : sql<string | null>`(${found})`).as("bodies"),
  ] as const;
}

/**
 * Deletes everything that was kept of a thread; the mirror keeps its messages. A thread that does
 * not exist is deleted already. Error codes: as `holdFence`; `thread_of_session` without a fence.
 */
export const deleteThread: Operation<FencedThread, void> = async (tx, input) => {
  if (input.fence === null) {
    await requireFreeThread(tx, input.thread_id, "change");
  }
  await holdFamilies(tx);
  const { id } = await holdThread(tx, input);
  await deleteThreads(tx, id === null ? [] : [id]);
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
  const chain = await storedChain(tx, columns.channels);
  const { length } = chain;
  await markHead(tx, { thread, row, length, hash: markHash(thread_id, { chain, columns }) });
}

/** True if an agent has begun in the thread. */
export const hasThread: Operation<{ readonly thread_id: string }, boolean> = async (tx, input) => {
  const row = await tx.db
    .selectFrom("threads")
    .select("id")
    .where("thread_id", "=", input.thread_id)
    .executeTakeFirst();
  return row !== undefined;
};
