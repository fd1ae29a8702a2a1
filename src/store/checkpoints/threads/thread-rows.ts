import type { Selectable } from "kysely";

import type { Tx } from "../../store.ts";
import type { CheckpointKey, ThreadCheckpoint } from "../kept-checkpoints.ts";
import { deltasOf, plainMetadata, readTexts, recordOf, textsOfMetadata } from "../metadata.ts";
import { SENDS_IN_PARENT } from "../read.ts";
import type { ListTable } from "../../tables/checkpoints.ts";
import { parseChannels, parseMetadata, parseWrites, type StoredValue } from "../value.ts";

/** Row that refers to bodies and lists, and its bytes. */
interface Holder {
  readonly values: readonly StoredValue[];
  readonly bytes: number;
}

export interface CheckpointRow extends ThreadCheckpoint, Holder {
  readonly shape: number;
}

/** Everything that a thread has, but for what its bodies say. */
export interface ThreadRows {
  /** In the order in which they were stored. */
  readonly checkpoints: readonly CheckpointRow[];
  readonly writes: readonly (Holder & CheckpointKey)[];
  readonly lists: readonly Pick<Selectable<ListTable>, "id" | "base">[];
  readonly items: readonly { readonly list: number; readonly body: number }[];
  /** Ids. */
  readonly bodies: readonly number[];
}

/** Error codes: `database_corrupt`. */
export async function readThreadRows(tx: Tx, thread: number): Promise<ThreadRows> {
  const { db } = tx;
  const lists = db.selectFrom("checkpoint_lists").where("thread", "=", thread).orderBy("id");
  const items = db
    .selectFrom("checkpoint_list_items")
    .innerJoin("checkpoint_lists", "checkpoint_lists.id", "list")
    .where("thread", "=", thread);
  const bodies = db.selectFrom("checkpoint_bodies").where("thread", "=", thread);
  const ids = await bodies.select("id").execute();
  return {
    checkpoints: await readCheckpointRows(tx, thread),
    writes: await readWriteRows(tx, thread),
    lists: await lists.select(["id", "base"]).execute(),
    items: await items.select(["list", "body"]).execute(),
    bodies: ids.map(({ id }) => id),
  };
}

async function readCheckpointRows(tx: Tx, thread: number): Promise<CheckpointRow[]> {
  const rows = await tx.db
    .selectFrom("checkpoints")
    .select(["id as row", "ns", "checkpoint_id", "parent_id"])
    .select(["shape", "versions", "channels", "metadata"])
    .where("thread", "=", thread)
    .orderBy("id")
    .execute();
  const stored = rows.map((row) => ({ row, metadata: parseMetadata(row.metadata) }));
  const textOf = await readTexts(tx, [
    ...rows.map(({ shape }) => shape),
    ...textsOfMetadata(stored.map(({ metadata }) => metadata)),
  ]);
  return stored.map(({ row: { versions, channels: text, ...row }, metadata }) => {
    const channels = parseChannels(text);
    return {
      ...row,
      channels: new Set(Object.keys(channels)),
      sendsInParent: SENDS_IN_PARENT.test(textOf(row.shape)),
      ...readMetadata(row.ns, plainMetadata(metadata, textOf)),
      values: [metadata, ...Object.values(channels)],
      bytes: bytesOf(versions, text, row.metadata),
    };
  });
}

function bytesOf(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Reads what LangGraph's metadata says of a checkpoint's relations. */
function readMetadata(
  ns: string,
  metadata: Readonly<Record<string, unknown>>,
): Pick<ThreadCheckpoint, "owner" | "deltas"> {
  // the nearest of all graphs around this one has the longest namespace
  const [owner] = Object.entries(recordOf(metadata["parents"]))
    .filter(([around]) => around === "" || ns.startsWith(`${around}|`))
    .sort(([a], [b]) => b.length - a.length);
  const [around, checkpoint_id] = owner ?? [];
  return {
    owner:
      ns === "" || around === undefined || typeof checkpoint_id !== "string"
        ? null
        : { ns: around, checkpoint_id },
    deltas: deltasOf(metadata),
  };
}

async function readWriteRows(tx: Tx, thread: number): Promise<(Holder & CheckpointKey)[]> {
  const rows = await tx.db
    .selectFrom("checkpoint_writes")
    .select(["ns", "checkpoint_id", "writes"])
    .where("thread", "=", thread)
    .execute();
  return rows.map(({ writes, ...key }) => ({
    ...key,
    values: parseWrites(writes).map(([, , value]) => value),
    bytes: bytesOf(writes),
  }));
}
