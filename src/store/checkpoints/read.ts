import { type Parameter, prepared } from "../prepared.ts";
import type { Operation, Tx } from "../store.ts";
import { batches } from "../records/threads/bodies.ts";
import { damagedCheckpoint } from "./damage.ts";
import { MESSAGES, messageListOf, refuseEarlierHead, refuseLostHead } from "./head-mark.ts";
import { segmentsOf, selectBodies } from "./lists.ts";
import type { BodyRow, CheckpointTable } from "../tables/checkpoints.ts";
import { readShown } from "./shown-items.ts";
import {
  chunksKey,
  type ListVersion,
  parseChannels,
  parseMetadata,
  parseWrites,
  refsOf,
  type StoredChannels,
  type StoredValue,
  type StoredWrite,
} from "./value.ts";

export interface ReadCheckpoints {
  /** Undefined for the checkpoints of every thread. */
  readonly thread_id?: string | undefined;
  readonly ns?: string | undefined;
  readonly checkpoint_id?: string | undefined;
  /** Only checkpoints stored before this one (of this thread and namespace, if given). */
  readonly before?: {
    readonly thread_id?: string;
    readonly ns?: string;
    readonly checkpoint_id: string;
  };
  /** Only rows before this one: the next page. */
  readonly before_row?: number;
  readonly limit: number;
  /** True for the latest root checkpoint of a thread, which has to be the one stored last. */
  readonly latest?: boolean;
  /** How many items of which lists the caller has: those are not read again. */
  readonly have: ReadonlyMap<number, number>;
  /**
   * True to read the messages of root checkpoints only from the first one on that the model is shown,
   * unless something else has the same list.
   */
  readonly isShownOnly?: boolean;
  /** `chunksKey` of a value that the caller has: its chunks are not read again. */
  readonly known?: string | undefined;
}

/** Items of a list that the caller lacked; `start` says which ones that it has come first. */
export interface ListTail extends ListVersion {
  readonly start: ListVersion | null;
  /** Position of the first item that was read; those before it come with `start`, or were left out. */
  readonly first: number;
  readonly items: readonly BodyRow[];
  /** True if items that the model is not shown may be missing. */
  readonly isShownOnly: boolean;
}

export interface TaskWrites {
  readonly task_id: string;
  readonly writes: readonly StoredWrite[];
}

type AsStored = "thread" | "ns" | "checkpoint_id" | "parent_id" | "ts" | "versions";

export interface CheckpointRead extends Readonly<Pick<CheckpointTable, AsStored>> {
  readonly row: number;
  /** The thread's mark: see `head-mark.ts`. */
  readonly head_row: number;
  readonly head_length: number;
  readonly head_hash: string;
  readonly thread_id: string;
  readonly shape: string;
  readonly channels: StoredChannels;
  readonly metadata: StoredValue;
  /** By task id, then by index. */
  readonly writes: readonly TaskWrites[];
  /** Writes of the parent's tasks: checkpoints older than version 4 keep their sends there. */
  readonly parent_writes: readonly TaskWrites[];
}

export interface CheckpointPage {
  /** Latest first. */
  readonly checkpoints: readonly CheckpointRead[];
  readonly lists: readonly ListTail[];
  readonly bodies: readonly BodyRow[];
}

/**
 * Checkpoints, the one stored last first, with all that their values refer to, in one state.
 *
 * Error codes: `database_corrupt` if rows are inconsistent or hold an unknown kind of value.
 */
export const readCheckpoints: Operation<ReadCheckpoints, CheckpointPage> = async (tx, input) => {
  const checkpoints: CheckpointRead[] = [];
  for (const { shape, ...row } of await readRows(tx, input)) {
    if (shape === null) {
      throw damagedCheckpoint();
    }
    checkpoints.push({
      ...row,
      shape,
      channels: parseChannels(row.channels),
      metadata: parseMetadata(row.metadata),
      writes: await readWrites(tx, row),
      parent_writes:
        row.parent_id !== null && SENDS_IN_PARENT.test(shape)
          ? await readWrites(tx, { ...row, checkpoint_id: row.parent_id })
          : [],
    });
  }
  if (input.latest === true && input.thread_id !== undefined) {
    const [head] = checkpoints;
    await (head === undefined ? refuseLostHead(tx, input.thread_id) : refuseEarlierHead(head));
  }
  const wanted = wantedBy(checkpoints, input.known);
  const lists: ListTail[] = [];
  const shown = input.isShownOnly === true ? listsOfMessages(checkpoints) : new Set<number>();
  for (const [list, length] of wanted.lists) {
    const isShownOnly = shown.has(list);
    lists.push(await readTail(tx, { list, length }, { have: input.have, isShownOnly }));
  }
  return { checkpoints, lists, bodies: await readBodies(tx, [...wanted.bodies]) };
};

async function readRows(tx: Tx, input: ReadCheckpoints) {
  const { thread_id, ns, checkpoint_id, before_row, before, limit } = input;
  const row = before === undefined ? null : await rowOf(tx, before);
  return tx.rows(checkpointRows, {
    thread_id,
    ns,
    checkpoint_id,
    before_row,
    before_found: row ?? undefined,
    before_id: row === null ? before?.checkpoint_id : undefined,
    limit,
  });
}

interface WantedRows extends Pick<
  ReadCheckpoints,
  "thread_id" | "ns" | "checkpoint_id" | "before_row" | "limit"
> {
  /** Row of the checkpoint before which they are to be. */
  readonly before_found?: number | undefined;
  /** Its id if it has no row. */
  readonly before_id?: string | undefined;
}

const checkpointRows = prepared(
  ({ db }, given: Parameter<WantedRows>) => {
    let query = db
      .selectFrom("checkpoints")
      .innerJoin("threads", "threads.id", "checkpoints.thread")
      .leftJoin("checkpoint_bodies", "checkpoint_bodies.id", "checkpoints.shape")
      .select([
        "checkpoints.id as row",
        "checkpoints.thread as thread",
        "thread_id",
        "head_row",
        "head_length",
        "head_hash",
        "ns",
        "checkpoint_id",
        "parent_id",
        "ts",
        "body as shape",
        "versions",
        "channels",
        "metadata",
      ])
      .orderBy("checkpoints.id", "desc")
      .limit(given("limit"));
    for (const column of ["thread_id", "ns", "checkpoint_id"] as const) {
      query = given.has(column) ? query.where(column, "=", given(column)) : query;
    }
    for (const name of ["before_row", "before_found"] as const) {
      query = given.has(name) ? query.where("checkpoints.id", "<", given(name)) : query;
    }
    return given.has("before_id") ? query.where("checkpoint_id", "<", given("before_id")) : query;
  },
  ["thread_id", "ns", "checkpoint_id", "before_row", "before_found", "before_id"],
);

async function rowOf(
  tx: Tx,
  before: NonNullable<ReadCheckpoints["before"]>,
): Promise<number | null> {
  if (before.thread_id === undefined) {
    return null;
  }
  const row = await tx.db
    .selectFrom("checkpoints")
    .innerJoin("threads", "threads.id", "checkpoints.thread")
    .select("checkpoints.id")
    .where("thread_id", "=", before.thread_id)
    .where("ns", "=", before.ns ?? "")
    .where("checkpoint_id", "=", before.checkpoint_id)
    .executeTakeFirst();
  return row?.id ?? null;
}

type WritesKey = Pick<CheckpointTable, "thread" | "ns" | "checkpoint_id">;

async function readWrites(tx: Tx, { thread, ns, checkpoint_id }: WritesKey): Promise<TaskWrites[]> {
  const rows = await tx.rows(writesOfTasks, { thread, ns, checkpoint_id });
  return rows.map(({ task_id, writes }) => ({
    task_id,
    writes: parseWrites(writes),
  }));
}

const writesOfTasks = prepared(({ db }, given: Parameter<WritesKey>) =>
  db
    .selectFrom("checkpoint_writes")
    .select(["task_id", "writes"])
    .where("thread", "=", given("thread"))
    .where("ns", "=", given("ns"))
    .where("checkpoint_id", "=", given("checkpoint_id"))
    .orderBy("task_id"),
);

/** The template holds the version of the checkpoint format; from 4 on sends are a channel. */
export const SENDS_IN_PARENT = /^\{"v":[123],/;

/** Each list once, at the greatest length that is asked for, and each body once. */
export function wantedBy(checkpoints: readonly CheckpointRead[], known?: string) {
  const lists = new Map<number, number>();
  const bodies = new Set<number>();
  const values = checkpoints.flatMap(({ channels, metadata, writes, parent_writes }) => [
    metadata,
    ...Object.values(channels),
    ...[...writes, ...parent_writes].flatMap((task) => task.writes.map((write) => write[2])),
  ]);
  for (const value of values) {
    if (known !== undefined && chunksKey(value) === known) {
      continue;
    }
    const refs = refsOf(value);
    for (const body of refs.bodies) {
      bodies.add(body);
    }
    for (const { list, length } of refs.lists) {
      lists.set(list, Math.max(length, lists.get(list) ?? 0));
    }
  }
  return { lists, bodies };
}

/** The lists that nothing but the messages of root checkpoints refers to. */
function listsOfMessages(checkpoints: readonly CheckpointRead[]): ReadonlySet<number> {
  const roots = checkpoints.filter(({ ns }) => ns === "");
  const lists = new Set(roots.flatMap(({ channels }) => messageListOf(channels)?.list ?? []));
  const others = checkpoints.map((checkpoint) => {
    const { [MESSAGES]: messages, ...rest } = checkpoint.channels;
    const channels = checkpoint.ns === "" ? rest : checkpoint.channels;
    return { ...checkpoint, channels };
  });
  for (const list of wantedBy(others).lists.keys()) {
    lists.delete(list);
  }
  return lists;
}

async function readTail(
  tx: Tx,
  version: ListVersion,
  { have, isShownOnly }: Required<Pick<ReadCheckpoints, "have" | "isShownOnly">>,
): Promise<ListTail> {
  const { start, segments } = await segmentsOf(tx, version, have);
  if (start === null && isShownOnly) {
    return { ...version, start, ...(await readShown(tx, version)), isShownOnly };
  }
  const items: BodyRow[] = [];
  for (const segment of segments) {
    const query = selectBodies(tx, segment);
    const columns = ["checkpoint_bodies.id", "hash", "checkpoint_bodies.body"] as const;
    items.push(...(await query.select(columns).execute()));
  }
  if (items.length !== version.length - (start?.length ?? 0)) {
    throw damagedCheckpoint();
  }
  return { ...version, start, first: start?.length ?? 0, items, isShownOnly };
}

async function readBodies(tx: Tx, ids: readonly number[]): Promise<BodyRow[]> {
  const bodies: BodyRow[] = [];
  for (const batch of batches(ids)) {
    bodies.push(...(await tx.rows(bodiesOf, { ids: batch })));
  }
  return bodies;
}

const bodiesOf = prepared(({ db }, given: Parameter<{ readonly ids: readonly number[] }>) =>
  db
    .selectFrom("checkpoint_bodies")
    .select(["id", "hash", "body"])
    .where("id", "in", given.all("ids")),
);
