import { parseThreadId } from "../../core/threads.ts";
import { at } from "../checkpoints/value.ts";
import type { Tx } from "../store.ts";
import type {
  PortableCheckpoint,
  PortableList,
  PortableThread,
  PortableWrites,
} from "./export-schema.ts";
import { readPruneMarks } from "./prune-marks.ts";
import { type IdMap, mapIds } from "./map-ids.ts";
import { threadRange } from "../sessions/tree-ids.ts";

/** A session's threads, ascending by suffix. */
export async function readThreads(tx: Tx, sessionId: string): Promise<PortableThread[]> {
  const { from, before } = threadRange(sessionId);
  const rows = await tx.db
    .selectFrom("checkpoint_threads")
    .select(["id", "thread_id"])
    .where("thread_id", ">=", from)
    .where("thread_id", "<", before)
    .execute();
  const threads: PortableThread[] = [];
  for (const { id, thread_id } of rows) {
    const thread = parseThreadId(thread_id);
    if (thread !== null) {
      threads.push(await readThread(tx, id, thread.suffix));
    }
  }
  return threads.sort((a, b) => a.suffix - b.suffix);
}

async function readThread(tx: Tx, thread: number, suffix: number): Promise<PortableThread> {
  const bodies = await tx.db
    .selectFrom("checkpoint_bodies")
    .select(["id", "body"])
    .where("thread", "=", thread)
    .orderBy("id")
    .execute();
  const bodyPositions = new Map(bodies.map(({ id }, position) => [id, position]));
  const { lists, listPositions } = await readLists(tx, thread, bodyPositions);
  const ids: IdMap = {
    body: (id) => positionIn(bodyPositions, id),
    list: (id) => positionIn(listPositions, id),
  };
  return {
    suffix,
    bodies: bodies.map(({ body }) => body),
    lists,
    checkpoints: await readAllCheckpoints(tx, thread, ids),
    writes: await readAllWrites(tx, thread, ids),
    folded: await readPruneMarks(tx, thread),
  };
}

function positionIn(ids: ReadonlyMap<number, number>, id: number): number {
  const position = ids.get(id);
  if (position === undefined) {
    throw new RangeError("a checkpoint refers to a row that its thread does not have");
  }
  return position;
}

async function readLists(tx: Tx, thread: number, bodyPositions: ReadonlyMap<number, number>) {
  const rows = await tx.db
    .selectFrom("checkpoint_lists")
    .select(["id", "base", "base_length"])
    .where("thread", "=", thread)
    .orderBy("id")
    .execute();
  const listPositions = new Map(rows.map(({ id }, position) => [id, position]));
  const items = rows.map((): number[] => []);
  for (const { list, body } of await readItems(tx, thread)) {
    items[positionIn(listPositions, list)]?.push(positionIn(bodyPositions, body));
  }
  const lists = rows.map(({ base, base_length }, position): PortableList => ({
    base: base === null ? null : positionIn(listPositions, base),
    base_length,
    items: at(items, position),
  }));
  return { lists, listPositions };
}

function readItems(tx: Tx, thread: number) {
  return tx.db
    .selectFrom("checkpoint_list_items")
    .innerJoin("checkpoint_lists", "checkpoint_lists.id", "checkpoint_list_items.list")
    .select(["list", "body"])
    .where("thread", "=", thread)
    .orderBy("list")
    .orderBy("position")
    .execute();
}

async function readAllCheckpoints(
  tx: Tx,
  thread: number,
  ids: IdMap,
): Promise<PortableCheckpoint[]> {
  const rows = await tx.db
    .selectFrom("checkpoints")
    .select(["ns", "checkpoint_id", "parent_id", "ts", "shape", "versions", "channels", "metadata"])
    .where("thread", "=", thread)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    ...row,
    shape: ids.body(row.shape),
    channels: mapMemberIds(JSON.parse(row.channels) as Record<string, unknown>, ids),
    metadata: mapIds(JSON.parse(row.metadata), ids),
  }));
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
    writes: (JSON.parse(row.writes) as unknown[][]).map((write) => mapWriteIds(write, ids)),
  }));
}

/** [index, channel, value] with the value with other ids. */
export function mapWriteIds(write: readonly unknown[], ids: IdMap): unknown[] {
  const [index, channel, value] = write;
  return [index, channel, mapIds(value, ids)];
}
