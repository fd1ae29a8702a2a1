import type { Tx } from "../../store.ts";
import { deltaAncestors } from "../kept-checkpoints.ts";
import { segmentsOf } from "../lists.ts";
import { deltasOf, plainMetadata, readTexts, textsOfMetadata } from "../metadata.ts";
import { markPruned } from "../prune.ts";
import { keepThread, markLatest } from "../threads.ts";
import {
  type ListVersion,
  parseChannels,
  parseMetadata,
  refsOf,
  type StoredValue,
  withMessages,
} from "../value.ts";
import { messageListOf } from "../head-mark.ts";

export interface ShareThread {
  /** Number of the thread whose bodies and lists are shared. */
  readonly from: number;
  /** Row of the checkpoint that becomes the latest one of the new thread. */
  readonly checkpoint: number;
  /** The first messages of that checkpoint, for a thread with these alone. */
  readonly messages?: ListVersion | undefined;
  /** True if nothing was stored in the thread after it. */
  readonly isLatest: boolean;
  /** Id of a thread that does not exist. */
  readonly to: string;
}

/**
 * Makes a thread that continues from a checkpoint of another one. Its rows of checkpoints are copied, bodies and lists are
 * shared. The families, and both sessions, are held.
 */
export async function shareThread(tx: Tx, input: ShareThread): Promise<void> {
  const thread = await keepThread(tx, input.to);
  const rows = await neededRows(tx, input);
  const last = await lastRows(tx, { ...input, rows });
  await joinFamily(tx, { thread, owner: input.from, last });
  for (const { id, isWritten } of rows) {
    await copyCheckpoint(tx, { id, thread });
    if (isWritten) {
      await copyWrites(tx, { id, thread });
    }
  }
  if (input.messages !== undefined) {
    await shorten(tx, { thread, messages: input.messages });
  }
  await tx.rows(markPruned, { thread });
  await markLatest(tx, { thread, thread_id: input.to });
}

async function shorten(
  { db }: Tx,
  { thread, messages }: { readonly thread: number; readonly messages: ListVersion },
): Promise<void> {
  const { id, channels } = await db
    .selectFrom("checkpoints")
    .select(["id", "channels"])
    .where("thread", "=", thread)
    .where("ns", "=", "")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirstOrThrow();
  await db
    .updateTable("checkpoints")
    .set({ channels: withMessages(channels, messages) })
    .where("id", "=", id)
    .execute();
}

interface NeededRow {
  readonly id: number;
  readonly values: readonly StoredValue[];
  /** True if what its tasks wrote is needed. */
  readonly isWritten: boolean;
}

/** The checkpoint, those of subgraphs with a separate memory, and those from which delta channels are rebuilt; in their order. */
async function neededRows(tx: Tx, { from, checkpoint }: ShareThread): Promise<NeededRow[]> {
  const memories = await tx.db
    .selectFrom("checkpoints")
    .select(({ fn }) => fn.max("id").as("id"))
    .where("thread", "=", from)
    .where("ns", "<>", "")
    .where("ns", "not like", "%:%")
    .where("id", "<", checkpoint)
    .groupBy("ns")
    .execute();
  const needed: NeededRow[] = [];
  for (const id of [...memories.map((row) => row.id), checkpoint]) {
    const one = await readRow(tx, { from, id });
    const parents = one.deltas.length === 0 ? [] : await ancestorsOf(tx, from, one);
    needed.push({ ...one, isWritten: false });
    needed.push(...deltaRows(one, parents));
  }
  return needed.sort((a, b) => a.id - b.id);
}

type CheckpointRow = Awaited<ReturnType<typeof readRow>>;

function deltaRows(one: CheckpointRow, parents: readonly CheckpointRow[]): NeededRow[] {
  const byId = new Map(parents.map((parent) => [parent.checkpoint_id, parent]));
  const needed = deltaAncestors(one, ({ parent_id }) => byId.get(parent_id ?? ""));
  return needed.map((row) => ({ ...row, isWritten: true }));
}

async function ancestorsOf(tx: Tx, from: number, one: CheckpointRow): Promise<CheckpointRow[]> {
  const ids = await tx.db
    .selectFrom("checkpoints")
    .select("id")
    .where("thread", "=", from)
    .where("ns", "=", one.ns)
    .where("id", "<", one.id)
    .execute();
  const rows: CheckpointRow[] = [];
  for (const { id } of ids) {
    rows.push(await readRow(tx, { from, id }));
  }
  return rows;
}

async function readRow(tx: Tx, { from, id }: { readonly from: number; readonly id: number }) {
  const row = await tx.db
    .selectFrom("checkpoints")
    .select(["id", "ns", "checkpoint_id", "parent_id", "shape", "channels", "metadata"])
    .where("thread", "=", from)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const channels = parseChannels(row.channels);
  const metadata = parseMetadata(row.metadata);
  const textOf = await readTexts(tx, textsOfMetadata([metadata]));
  return {
    ...row,
    channels: new Set(Object.keys(channels)),
    messages: messageListOf(channels),
    deltas: deltasOf(plainMetadata(metadata, textOf)),
    values: [metadata, ...Object.values(channels), [null, [row.shape]] as const],
  };
}

interface LastRows {
  readonly last_body: number;
  readonly last_list: number;
}

/** The highest rows of the thread that the checkpoints, or those before them, refer to; 0 for none. */
async function lastRows(
  tx: Tx,
  input: ShareThread & { readonly rows: readonly NeededRow[] },
): Promise<LastRows> {
  const { from, isLatest, rows } = input;
  if (isLatest) {
    return {
      last_body: await highest(tx, "checkpoint_bodies", from),
      last_list: await highest(tx, "checkpoint_lists", from),
    };
  }
  const refs = rows.flatMap(({ values }) => values.map(refsOf));
  const lists: LastRows[] = [];
  for (const version of refs.flatMap((one) => one.lists)) {
    lists.push(await lastOfList(tx, { from, version }));
  }
  const bodies = refs.flatMap((one) => one.bodies);
  const own = await tx.db
    .selectFrom("checkpoint_bodies")
    .select(({ fn }) => fn.max("id").as("id"))
    .where("thread", "=", from)
    .where("id", "in", bodies)
    .executeTakeFirst();
  const last_body = Math.max(own?.id ?? 0, ...lists.map((one) => one.last_body));
  const next = await nextMessage(tx, input);
  return {
    // messages that left the thread before the next one came belong to it, too
    last_body: next > last_body ? next - 1 : last_body,
    last_list: Math.max(0, ...lists.map((one) => one.last_list)),
  };
}

async function highest(
  { db }: Tx,
  table: "checkpoint_bodies" | "checkpoint_lists",
  thread: number,
): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select(({ fn }) => fn.max("id").as("id"))
    .where("thread", "=", thread)
    .executeTakeFirst();
  return row?.id ?? 0;
}

async function lastOfList(
  tx: Tx,
  { from, version }: { readonly from: number; readonly version: ListVersion },
): Promise<LastRows> {
  const { segments } = await segmentsOf(tx, version, new Map());
  const last = { last_body: 0, last_list: 0 };
  for (const { list, from: start, to } of segments) {
    const items = await tx.db
      .selectFrom("checkpoint_list_items")
      .innerJoin("checkpoint_bodies", "checkpoint_bodies.id", "checkpoint_list_items.body")
      .select(({ fn }) => fn.max("checkpoint_bodies.id").as("id"))
      .where("list", "=", list)
      .where("position", ">=", start)
      .where("position", "<", to)
      .where("thread", "=", from)
      .executeTakeFirst();
    const own = await tx.db
      .selectFrom("checkpoint_lists")
      .select("id")
      .where("id", "=", list)
      .where("thread", "=", from)
      .executeTakeFirst();
    last.last_body = Math.max(last.last_body, items?.id ?? 0);
    last.last_list = Math.max(last.last_list, own?.id ?? 0);
  }
  return last;
}

/** The body of the message that the thread has next, if its latest checkpoint continues the same messages; else 0. */
async function nextMessage(tx: Tx, { from, checkpoint }: ShareThread): Promise<number> {
  const { messages } = await readRow(tx, { from, id: checkpoint });
  const [next] = messages === null ? [] : await bodiesAfter(tx, { from, messages, limit: 1 });
  return next?.id ?? 0;
}

/** The messages that the latest checkpoint of a thread has after those of an earlier one. */
export async function bodiesAfter(
  tx: Tx,
  input: { readonly from: number; readonly messages: ListVersion; readonly limit: number },
): Promise<readonly { readonly id: number; readonly body: string }[]> {
  const head = await tx.db
    .selectFrom("threads")
    .innerJoin("checkpoints", "checkpoints.id", "threads.head_row")
    .select("channels")
    .where("threads.id", "=", input.from)
    .executeTakeFirst();
  const latest = head === undefined ? null : messageListOf(parseChannels(head.channels));
  if (latest === null || latest.length <= input.messages.length) {
    return [];
  }
  const start = input.messages.length;
  const { segments } = await segmentsOf(tx, latest, new Map());
  const bodies: { id: number; body: string }[] = [];
  for (const { list, from, to } of segments) {
    if (to > start && bodies.length < input.limit) {
      const rows = await tx.db
        .selectFrom("checkpoint_list_items")
        .innerJoin("checkpoint_bodies", "checkpoint_bodies.id", "checkpoint_list_items.body")
        .select(["checkpoint_bodies.id", "checkpoint_bodies.body"])
        .where("list", "=", list)
        .where("position", ">=", Math.max(from, start))
        .where("position", "<", to)
        .orderBy("position")
        .limit(input.limit - bodies.length)
        .execute();
      bodies.push(...rows);
    }
  }
  return bodies;
}

/** Lets a thread refer to the rows of another one, and to those to which that one refers. */
async function joinFamily(
  { db }: Tx,
  input: { readonly thread: number; readonly owner: number; readonly last: LastRows },
): Promise<void> {
  const { thread, owner, last } = input;
  await db
    .insertInto("families")
    .columns(["thread", "owner", "last_body", "last_list"])
    .expression(({ selectFrom, lit }) =>
      selectFrom("families")
        .select([lit(thread).as("thread"), "owner", "last_body", "last_list"])
        .where("thread", "=", owner),
    )
    .execute();
  if (last.last_body === 0 && last.last_list === 0) {
    return;
  }
  await db
    .insertInto("families")
    .values({ thread, owner, ...last })
    .execute();
}

interface CopiedRow {
  readonly id: number;
  readonly thread: number;
}

const CHECKPOINT = [
  "ns",
  "checkpoint_id",
  "parent_id",
  "ts",
  "shape",
  "versions",
  "channels",
  "metadata",
] as const;

async function copyCheckpoint({ db }: Tx, { id, thread }: CopiedRow): Promise<void> {
  await db
    .insertInto("checkpoints")
    .columns(["thread", ...CHECKPOINT])
    .expression(({ selectFrom, lit }) =>
      selectFrom("checkpoints")
        .select([lit(thread).as("thread"), ...CHECKPOINT])
        .where("id", "=", id),
    )
    .execute();
}

async function copyWrites({ db }: Tx, { id, thread }: CopiedRow): Promise<void> {
  await db
    .insertInto("checkpoint_writes")
    .columns(["thread", "ns", "checkpoint_id", "task_id", "writes"])
    .expression(({ selectFrom, lit }) =>
      selectFrom("checkpoint_writes as written")
        .innerJoin("checkpoints as stored", (join) =>
          join
            .onRef("stored.thread", "=", "written.thread")
            .onRef("stored.ns", "=", "written.ns")
            .onRef("stored.checkpoint_id", "=", "written.checkpoint_id"),
        )
        .select([
          lit(thread).as("thread"),
          "written.ns",
          "written.checkpoint_id",
          "task_id",
          "writes",
        ])
        .where("stored.id", "=", id),
    )
    .execute();
}
