import type { Fence } from "../leases/fence.ts";
import type { Operation, Tx } from "../store.ts";
import { keepBatch } from "./put.ts";
import { holdThread } from "./threads.ts";
import {
  type WriteBatch,
  type StoredIds,
  storedText,
  type StoredWrite,
  type ValueInput,
} from "./value.ts";

export interface WriteInput {
  /** Below 0 for the special channels, which replace what is there; others do not. */
  readonly index: number;
  readonly channel: string;
  readonly value: ValueInput;
}

export interface PutWrites {
  readonly thread_id: string;
  readonly ns: string;
  readonly checkpoint_id: string;
  readonly task_id: string;
  readonly writes: readonly WriteInput[];
  readonly parcel: WriteBatch;
  readonly fence: Fence | null;
}

/**
 * Stores what a task has written. The checkpoint itself may not be there yet: LangGraph does not
 * wait for it. Writes of one task stand in one row, so that an exchange costs few rows.
 *
 * Answers as `putCheckpoint`. Error codes: as `holdFence`.
 */
export const putWrites: Operation<PutWrites, StoredIds | "stale"> = async (tx, input) => {
  await holdThread(tx, input);
  const placed = await keepBatch(tx, input);
  if (placed === "stale") {
    return placed;
  }
  const key = {
    thread: placed.thread,
    ns: input.ns,
    checkpoint_id: input.checkpoint_id,
    task_id: input.task_id,
  };
  const present = await readWrites(tx, key);
  const writes = writesText(present, { writes: input.writes, placed });
  await tx.db
    .insertInto("checkpoint_writes")
    .values({ ...key, writes })
    .onConflict((conflict) =>
      conflict.columns(["thread", "ns", "checkpoint_id", "task_id"]).doUpdateSet({ writes }),
    )
    .execute();
  return placed;
};

interface WritesKey {
  readonly thread: number;
  readonly ns: string;
  readonly checkpoint_id: string;
  readonly task_id: string;
}

async function readWrites(tx: Tx, key: WritesKey): Promise<readonly StoredWrite[]> {
  const row = await tx.db
    .selectFrom("checkpoint_writes")
    .select("writes")
    .where("thread", "=", key.thread)
    .where("ns", "=", key.ns)
    .where("checkpoint_id", "=", key.checkpoint_id)
    .where("task_id", "=", key.task_id)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst();
  return row === undefined ? [] : (JSON.parse(row.writes) as StoredWrite[]);
}

function writesText(
  present: readonly StoredWrite[],
  { writes, placed }: { writes: readonly WriteInput[]; placed: StoredIds },
): string {
  const texts = new Map(present.map((write) => [write[0], JSON.stringify(write)]));
  const before = new Set(texts.keys());
  for (const { index, channel, value } of writes) {
    if (index < 0 || !before.has(index)) {
      texts.set(index, `[${index},${JSON.stringify(channel)},${storedText(value, placed)}]`);
    }
  }
  const ordered = [...texts].sort(([a], [b]) => a - b).map(([, text]) => text);
  return `[${ordered.join(",")}]`;
}
