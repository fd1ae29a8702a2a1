import { parseThreadId } from "../../core/threads.ts";
import {
  parseChannels,
  parseMetadata,
  parseWrites,
  storedWrite,
  type StoredWrite,
} from "../checkpoints/value.ts";
import { bodiesOf, listsOf } from "../records/threads/families.ts";
import type { Tx } from "../store.ts";
import type {
  PortableList,
  PortableThread,
  PortableWrites,
  ThreadContent,
  ThreadStructure,
} from "./portable-threads.ts";
import { type IdMap, mapIds } from "./map-ids.ts";
import { threadRange } from "../records/sessions/tree-ids.ts";

/** A session's threads, ascending by suffix. */
export async function readThreads(tx: Tx, sessionId: string): Promise<PortableThread[]> {
  const { from, before } = threadRange(sessionId);
  const rows = await selectThreads(tx)
    .where("thread_id", ">=", from)
    .where("thread_id", "<", before)
    .execute();
  const threads: PortableThread[] = [];
  for (const row of rows) {
    const thread = parseThreadId(row.thread_id);
    if (thread !== null) {
      threads.push({ suffix: thread.suffix, ...(await readThread(tx, row)) });
    }
  }
  return threads.sort((a, b) => a.suffix - b.suffix);
}

export function selectThreads(tx: Tx) {
  return tx.db
    .selectFrom("threads")
    .select(["id", "thread_id", "folded_checkpoint", "folded_body", "folded_list"]);
}

interface ThreadRow {
  readonly id: number;
  /** Up to which rows it was pruned. */
  readonly folded_checkpoint: number;
  readonly folded_body: number;
  readonly folded_list: number;
}

/** Everything that a thread has. */
export async function readThread(tx: Tx, row: ThreadRow): Promise<ThreadContent> {
  const bodies = await bodiesOf(tx, row.id)
    .select(["checkpoint_bodies.id", "body"])
    .orderBy("checkpoint_bodies.id")
    .execute();
  const ids = bodies.map(({ id }) => id);
  return {
    bodies: bodies.map(({ body }) => body),
    ...(await readStructure(tx, { row, bodies: ids })),
  };
}

/** Reads what a thread has besides its bodies; these are given by their ids, in ascending order. */
export async function readStructure(
  tx: Tx,
  { row, bodies }: { readonly row: ThreadRow; readonly bodies: readonly number[] },
): Promise<ThreadStructure> {
  const { id: thread } = row;
  const bodyPositions = new Map(bodies.map((id, position) => [id, position]));
  const lists = await readLists(tx, thread);
  const listPositions = new Map(lists.map(({ id }, position) => [id, position]));
  const used = usedOf(lists);
  const ids: IdMap = {
    body: (id) => positionIn(bodyPositions, id),
    list: (id, length) => {
      used.set(id, Math.max(length, used.get(id) ?? 0));
      return positionIn(listPositions, id);
    },
  };
  const checkpoints = await readAllCheckpoints(tx, thread);
  const mapped = checkpoints.map(({ id: _, ...checkpoint }) => ({
    ...checkpoint,
    shape: ids.body(checkpoint.shape),
    channels: mapMemberIds(parseChannels(checkpoint.channels), ids),
    metadata: mapIds(parseMetadata(checkpoint.metadata), ids),
  }));
  const writes = await readAllWrites(tx, thread, ids);
  const items = await readItems(tx, { thread, bodyPositions, used });
  return {
    lists: lists.map(({ id, base, base_length }): PortableList => ({
      base: base === null ? null : positionIn(listPositions, base),
      base_length,
      items: items.get(id) ?? [],
    })),
    checkpoints: mapped,
    writes,
    // how much the marks cover: the same numbers in every database
    folded: {
      checkpoints: countUpTo(
        row.folded_checkpoint,
        checkpoints.map(({ id }) => id),
      ),
      bodies: countUpTo(row.folded_body, bodies),
      lists: countUpTo(row.folded_list, listPositions.keys()),
    },
  };
}

function countUpTo(last: number, ids: Iterable<number>): number {
  return [...ids].filter((id) => id <= last).length;
}

function positionIn(ids: ReadonlyMap<number, number>, id: number): number {
  const position = ids.get(id);
  if (position === undefined) {
    throw new RangeError("a checkpoint refers to a row that its thread does not have");
  }
  return position;
}

interface ListRow {
  readonly id: number;
  readonly base: number | null;
  readonly base_length: number;
}

function readLists(tx: Tx, thread: number): Promise<ListRow[]> {
  return listsOf(tx, thread)
    .select(["checkpoint_lists.id", "base", "base_length"])
    .orderBy("checkpoint_lists.id")
    .execute();
}

/** By list, how many items the lists that begin with it use, with those of its base. */
function usedOf(lists: readonly ListRow[]): Map<number, number> {
  const used = new Map<number, number>();
  for (const { base, base_length } of lists) {
    if (base !== null) {
      used.set(base, Math.max(base_length, used.get(base) ?? 0));
    }
  }
  return used;
}

interface Items {
  readonly thread: number;
  readonly bodyPositions: ReadonlyMap<number, number>;
  /** By list, how many of its items the thread uses. */
  readonly used: ReadonlyMap<number, number>;
}

/**
 * Positions of the bodies of each list, as far as the thread uses it. A list that threads share may have been made longer
 * by another one: what this one has does not change with it, nor when it takes over the rows of a deleted one.
 */
async function readItems(
  tx: Tx,
  { thread, bodyPositions, used }: Items,
): Promise<Map<number, number[]>> {
  const rows = await listsOf(tx, thread)
    .innerJoin("checkpoint_list_items", "checkpoint_list_items.list", "checkpoint_lists.id")
    .select(["list", "position", "body"])
    .orderBy("list")
    .orderBy("position")
    .execute();
  const items = new Map<number, number[]>();
  for (const { list, position, body } of rows) {
    if (position < (used.get(list) ?? 0)) {
      const before = items.get(list) ?? [];
      items.set(list, before);
      before.push(positionIn(bodyPositions, body));
    }
  }
  return items;
}

function readAllCheckpoints(tx: Tx, thread: number) {
  return tx.db
    .selectFrom("checkpoints")
    .select(["id", "ns", "checkpoint_id", "parent_id", "ts"])
    .select(["shape", "versions", "channels", "metadata"])
    .where("thread", "=", thread)
    .orderBy("id")
    .execute();
}

/** Each channel's value with other ids. */
export function mapMemberIds(
  channels: Readonly<Record<string, unknown>>,
  ids: IdMap,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(channels).map(([name, value]) => [name, mapIds(value, ids)]),
  );
}

async function readAllWrites(tx: Tx, thread: number, ids: IdMap): Promise<PortableWrites[]> {
  const rows = await tx.db
    .selectFrom("checkpoint_writes")
    .select(["ns", "checkpoint_id", "task_id", "writes"])
    .where("thread", "=", thread)
    .orderBy("ns")
    .orderBy("checkpoint_id")
    .orderBy("task_id")
    .execute();
  return rows.map((row) => ({
    ...row,
    writes: parseWrites(row.writes).map((write) => mapWriteIds(write, ids)),
  }));
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The write with a value with other ids. */
export function mapWriteIds(write: unknown, ids: IdMap): Mutable<StoredWrite> {
  const [index, channel, value, ...path] = storedWrite(write);
  return [index, channel, mapIds(value, ids), ...path];
}
