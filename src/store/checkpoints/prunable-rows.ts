import type { Selectable } from "kysely";

import { type Parameter, prepared, type QueryParts } from "../prepared.ts";
import type { Tx } from "../store.ts";
import { batches } from "../records/threads/bodies.ts";
import { deltasOf, plainMetadata, readTexts, textsOfMetadata } from "./metadata.ts";
import type { CheckpointTable, ListTable, WriteTable } from "../tables/checkpoints.ts";
import { parseChannels, parseMetadata, parseWrites, type StoredValue } from "./value.ts";

type CheckpointKey = Pick<CheckpointTable, "ns" | "checkpoint_id" | "parent_id" | "shape">;

/** A checkpoint that was stored since the thread was last pruned. */
export interface PrunableCheckpoint extends Readonly<CheckpointKey> {
  readonly row: number;
  readonly values: readonly StoredValue[];
  /** Names of the channels that have a value. */
  readonly channels: ReadonlySet<string>;
  /** Channels that are rebuilt from what the tasks of earlier checkpoints wrote. */
  readonly deltas: readonly string[];
}

export interface PrunableWrites extends Readonly<Omit<WriteTable, "thread" | "writes">> {
  readonly values: readonly StoredValue[];
}

/** Rows that were added to a thread since it was last pruned. */
export interface PrunableRows {
  readonly thread: number;
  /** Only bodies above this one may go: what is kept from before, or a fork, may refer to the others. */
  readonly folded_body: number;
  /** Checkpoints of the root graph, latest first, one at least. */
  readonly checkpoints: readonly PrunableCheckpoint[];
  /** Checkpoints of the graphs below it that last no longer than one task. */
  readonly nested: readonly Omit<PrunableCheckpoint, "deltas">[];
  /** Checkpoints of the graphs below it with a separate memory: what these refer to stays. */
  readonly separate: readonly Omit<PrunableCheckpoint, "deltas">[];
  /** Writes of all these, and of the older checkpoints that they begin from. */
  readonly writes: readonly PrunableWrites[];
  readonly lists: readonly Pick<Selectable<ListTable>, "id" | "base">[];
}

/** Null for a thread without a checkpoint since it was last pruned. */
export async function readPrunableRows(tx: Tx, thread_id: string): Promise<PrunableRows | null> {
  const found = (await tx.rows(prunableCheckpoints, { thread_id })).map(parsed);
  const { root = [], nested = [], separate = [] } = Object.groupBy(found, kindOf);
  const [head] = root;
  if (head === undefined) {
    return null;
  }
  const { thread } = head;
  const folded_body = Math.max(head.folded_body, head.shared_body ?? 0);
  const folded_list = Math.max(head.folded_list, head.shared_list ?? 0);
  const ids = new Set(
    [...root, ...separate].flatMap(({ checkpoint_id, parent_id }) =>
      parent_id === null ? [checkpoint_id] : [checkpoint_id, parent_id],
    ),
  );
  const textOf = await readTexts(tx, textsOfMetadata(root.map(({ metadata }) => metadata)));
  return {
    thread,
    folded_body,
    checkpoints: root.map(({ metadata, ...row }) => ({
      ...row,
      deltas: deltasOf(plainMetadata(metadata, textOf)),
    })),
    nested,
    separate,
    writes: await readWrites(tx, thread, [...ids]),
    lists: await tx.rows(prunableLists, { thread, folded_list }),
  };
}

type CheckpointRow = CheckpointKey &
  Pick<CheckpointTable, "channels" | "metadata"> & { readonly row: number };

/** `node:task` names a graph's run inside one task; without a task it keeps a separate memory. */
const IN_A_TASK = "%:%";

/** True for a namespace that lasts no longer than one task. */
export function isInTask(ns: string): boolean {
  return ns.includes(":");
}

function kindOf({ ns }: Pick<CheckpointKey, "ns">): "root" | "nested" | "separate" {
  return ns === "" ? "root" : isInTask(ns) ? "nested" : "separate";
}

/** Selects checkpoints that are new, and all of graphs inside a task; latest first. */
const prunableCheckpoints = prepared((parts, given: Parameter<{ readonly thread_id: string }>) =>
  selectCheckpoints(parts, given)
    .where("ns", "=", "")
    .whereRef("checkpoints.id", ">", "folded_checkpoint")
    .unionAll(
      selectCheckpoints(parts, given)
        .where("ns", ">", "")
        .where(({ eb, ref }) =>
          eb("ns", "like", IN_A_TASK).or("checkpoints.id", ">", ref("folded_checkpoint")),
        ),
    )
    .orderBy("row", "desc"),
);

function selectCheckpoints({ db }: QueryParts, given: Parameter<{ readonly thread_id: string }>) {
  return db
    .selectFrom("threads")
    .innerJoin("checkpoints", "checkpoints.thread", "threads.id")
    .select([
      "checkpoints.id as row",
      "thread",
      "folded_body",
      "folded_list",
      "ns",
      "checkpoint_id",
      "parent_id",
      "shape",
      "channels",
      "metadata",
    ])
    .select(({ selectFrom }) => {
      const forks = selectFrom("families").whereRef("owner", "=", "threads.id");
      return [
        forks.select(({ fn }) => fn.max("last_body").as("last")).as("shared_body"),
        forks.select(({ fn }) => fn.max("last_list").as("last")).as("shared_list"),
      ];
    })
    .where("thread_id", "=", given("thread_id"));
}

const prunableLists = prepared(
  ({ db }, given: Parameter<{ readonly thread: number; readonly folded_list: number }>) =>
    db
      .selectFrom("checkpoint_lists")
      .select(["id", "base"])
      .where("thread", "=", given("thread"))
      .where("id", ">", given("folded_list")),
);

function parsed<Row extends CheckpointRow>({ channels: text, metadata: json, ...row }: Row) {
  const channels = parseChannels(text);
  const metadata = parseMetadata(json);
  const values = [metadata, ...Object.values(channels)];
  return { ...row, metadata, values, channels: new Set(Object.keys(channels)) };
}

async function readWrites(
  tx: Tx,
  thread: number,
  checkpointIds: readonly string[],
): Promise<PrunableWrites[]> {
  const writes: PrunableWrites[] = [];
  for (const ids of batches(checkpointIds)) {
    writes.push(...(await tx.rows(prunableWrites, { thread, ids })).map(writesOf));
  }
  return writes;
}

interface CheckpointIds {
  readonly thread: number;
  readonly ids: readonly string[];
}

/** Selects the writes of these checkpoints, and all of graphs inside a task. */
const prunableWrites = prepared((parts, given: Parameter<CheckpointIds>) =>
  selectWrites(parts, given)
    .where("ns", "=", "")
    .where("checkpoint_id", "in", given.all("ids"))
    .unionAll(
      selectWrites(parts, given)
        .where("ns", ">", "")
        .where((eb) => eb("ns", "like", IN_A_TASK).or("checkpoint_id", "in", given.all("ids"))),
    ),
);

function selectWrites({ db }: QueryParts, given: Parameter<CheckpointIds>) {
  return db
    .selectFrom("checkpoint_writes")
    .select(["ns", "checkpoint_id", "task_id", "writes"])
    .where("thread", "=", given("thread"));
}

function writesOf({
  writes,
  ...row
}: Omit<PrunableWrites, "values"> & { readonly writes: string }): PrunableWrites {
  return { ...row, values: parseWrites(writes).map(([, , value]) => value) };
}
