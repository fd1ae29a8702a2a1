import type { Tx } from "../store.ts";
import { batches } from "./bodies.ts";
import type { StoredValue, StoredWrite } from "./value.ts";

/** A checkpoint that was stored since the thread was last folded. */
export interface PrunableCheckpoint {
  readonly row: number;
  readonly ns: string;
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly shape: number;
  readonly values: readonly StoredValue[];
}

export interface PrunableWrites {
  readonly ns: string;
  readonly checkpoint_id: string;
  readonly task_id: string;
  readonly values: readonly StoredValue[];
}

export interface PrunableList {
  readonly id: number;
  readonly base: number | null;
}

/** What a thread has gained since it was last folded. */
export interface PrunableRows {
  readonly thread: number;
  /** Only bodies above this one may go: what is kept from before may refer to the others. */
  readonly folded_body: number;
  /** Of the root graph, latest first, one at least. */
  readonly checkpoints: readonly PrunableCheckpoint[];
  /** Of the graphs below it that last no longer than one task. */
  readonly nested: readonly PrunableCheckpoint[];
  /** Of all these, and of the older checkpoints that they begin from. */
  readonly writes: readonly PrunableWrites[];
  readonly lists: readonly PrunableList[];
}

/** Null for a thread without a checkpoint since it was last folded. */
export async function readPrunableRows(tx: Tx, threadId: string): Promise<PrunableRows | null> {
  const thread = await tx.db
    .selectFrom("checkpoint_threads")
    .select(["id", "folded_checkpoint", "folded_body", "folded_list"])
    .where("thread_id", "=", threadId)
    .executeTakeFirst();
  if (thread === undefined) {
    return null;
  }
  const checkpoints = await readRoot(tx, thread.id, thread.folded_checkpoint);
  if (checkpoints.length === 0) {
    return null;
  }
  const nested = await readNested(tx, thread.id);
  const ids = new Set(
    checkpoints.flatMap(({ checkpoint_id, parent_id }) =>
      parent_id === null ? [checkpoint_id] : [checkpoint_id, parent_id],
    ),
  );
  const writes = [
    ...(await readRootWrites(tx, thread.id, [...ids])),
    ...(await readNestedWrites(tx, thread.id)),
  ];
  const lists = await tx.db
    .selectFrom("checkpoint_lists")
    .select(["id", "base"])
    .where("thread", "=", thread.id)
    .where("id", ">", thread.folded_list)
    .execute();
  return { thread: thread.id, folded_body: thread.folded_body, checkpoints, nested, writes, lists };
}

async function readRoot(tx: Tx, thread: number, after: number): Promise<PrunableCheckpoint[]> {
  const rows = await selectCheckpoints(tx, thread)
    .where("ns", "=", "")
    .where("id", ">", after)
    .orderBy("id", "desc")
    .execute();
  return rows.map(checkpointOf);
}

/** `node:task` names a graph's run inside one task; without a task it keeps a memory of its own. */
const IN_A_TASK = "%:%";

async function readNested(tx: Tx, thread: number): Promise<PrunableCheckpoint[]> {
  const rows = await selectCheckpoints(tx, thread)
    .where("ns", ">", "")
    .where("ns", "like", IN_A_TASK)
    .execute();
  return rows.map(checkpointOf);
}

function selectCheckpoints(tx: Tx, thread: number) {
  return tx.db
    .selectFrom("checkpoints")
    .select(["id as row", "ns", "checkpoint_id", "parent_id", "shape", "channels", "metadata"])
    .where("thread", "=", thread);
}

function checkpointOf({
  channels,
  metadata,
  ...row
}: Omit<PrunableCheckpoint, "values"> & {
  readonly channels: string;
  readonly metadata: string;
}): PrunableCheckpoint {
  const members = JSON.parse(channels) as Readonly<Record<string, StoredValue>>;
  return { ...row, values: [JSON.parse(metadata) as StoredValue, ...Object.values(members)] };
}

async function readRootWrites(
  tx: Tx,
  thread: number,
  checkpointIds: readonly string[],
): Promise<PrunableWrites[]> {
  const writes: PrunableWrites[] = [];
  for (const batch of batches(checkpointIds)) {
    const rows = await selectWrites(tx, thread)
      .where("ns", "=", "")
      .where("checkpoint_id", "in", batch)
      .execute();
    writes.push(...rows.map(writesOf));
  }
  return writes;
}

async function readNestedWrites(tx: Tx, thread: number): Promise<PrunableWrites[]> {
  const rows = await selectWrites(tx, thread)
    .where("ns", ">", "")
    .where("ns", "like", IN_A_TASK)
    .execute();
  return rows.map(writesOf);
}

function selectWrites(tx: Tx, thread: number) {
  return tx.db
    .selectFrom("checkpoint_writes")
    .select(["ns", "checkpoint_id", "task_id", "writes"])
    .where("thread", "=", thread);
}

function writesOf({
  writes,
  ...row
}: Omit<PrunableWrites, "values"> & { readonly writes: string }): PrunableWrites {
  const stored = JSON.parse(writes) as readonly StoredWrite[];
  return { ...row, values: stored.map(([, , value]) => value) };
}
