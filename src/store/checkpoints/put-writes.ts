import { parseThreadId } from "../../core/threads.ts";
import { type Parameter, prepared } from "../prepared.ts";
import { insertQuestion, type NewQuestion } from "../records/questions/ask.ts";
import type { Operation, Tx } from "../store.ts";
import type { NewCalls } from "../records/model-calls/store-calls.ts";
import { hashesIn, keepBatch, keepCalls } from "./put.ts";
import type { WriteTable } from "../tables/checkpoints.ts";
import { type FencedThread, holdThread } from "./threads.ts";
import {
  parseWrites,
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

export interface PutWrites extends FencedThread, Readonly<Omit<WritesKey, "thread">> {
  /** Where the task is among those of its step; "" for writes without a task. */
  readonly task_path: string;
  readonly writes: readonly WriteInput[];
  readonly batch: WriteBatch;
  /** Questions of the task to a person, if it waits for the answers. */
  readonly questions?: readonly NewQuestion[];
  /** As of `PutCheckpoint`. */
  readonly calls?: NewCalls | null;
}

/**
 * Stores what a task has written. The checkpoint itself may not be there yet: LangGraph does not
 * wait for it. Writes of one task share one row, so that an exchange costs few rows.
 *
 * Answers as `putCheckpoint`. Error codes: as `holdFence`.
 */
export const putWrites: Operation<PutWrites, StoredIds | "stale"> = async (tx, input) => {
  const { thread_id, fence, batch, ns, checkpoint_id, task_id } = input;
  const held = await holdThread(tx, { thread_id, fence, hashes: hashesIn(batch) });
  const ids = await keepBatch(tx, { ...input, held });
  if (ids === "stale") {
    return ids;
  }
  const key = { thread: ids.thread, ns, checkpoint_id, task_id };
  const first = await tx.rows(insertWrites, { ...key, writes: writesText([], input, ids) });
  if (first.length === 0) {
    const present = await readWrites(tx, key);
    await tx.db
      .updateTable("checkpoint_writes")
      .set({ writes: writesText(present, input, ids) })
      .where((eb) => eb.and(key))
      .execute();
  }
  await keepQuestions(tx, input);
  await keepCalls(tx, input);
  return ids;
};

async function keepQuestions(
  tx: Tx,
  { thread_id, fence, questions = [] }: PutWrites,
): Promise<void> {
  const thread = questions.length === 0 ? null : parseThreadId(thread_id);
  if (fence === null || thread?.sessionId !== fence.session_id) {
    return;
  }
  for (const question of questions) {
    const { session_id } = fence;
    await insertQuestion(tx, { session_id, thread_suffix: thread.suffix }, question);
  }
}

type WritesKey = Omit<WriteTable, "writes">;

/** Returns nothing if the task has written before. */
const insertWrites = prepared(({ db }, given: Parameter<WriteTable>) =>
  db
    .insertInto("checkpoint_writes")
    .values(given.row())
    .onConflict((conflict) =>
      conflict.columns(["thread", "ns", "checkpoint_id", "task_id"]).doNothing(),
    )
    .returning("task_id"),
);

async function readWrites(tx: Tx, key: WritesKey): Promise<readonly StoredWrite[]> {
  const { writes } = await tx.db
    .selectFrom("checkpoint_writes")
    .select("writes")
    .where((eb) => eb.and(key))
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirstOrThrow();
  return parseWrites(writes);
}

function writesText(
  present: readonly StoredWrite[],
  { writes, task_path }: Pick<PutWrites, "writes" | "task_path">,
  ids: StoredIds,
): string {
  const path = task_path === "" ? "" : `,${JSON.stringify(task_path)}`;
  const texts = new Map(present.map((write) => [write[0], JSON.stringify(write)]));
  const before = new Set(texts.keys());
  for (const { index, channel, value } of writes) {
    if (index < 0 || !before.has(index)) {
      texts.set(index, `[${index},${JSON.stringify(channel)},${storedText(value, ids)}${path}]`);
    }
  }
  const ordered = [...texts].sort(([a], [b]) => a - b).map(([, text]) => text);
  return `[${ordered.join(",")}]`;
}
