import { type RawBuilder, sql } from "kysely";

import { RepriseError } from "../../core/errors.ts";
import type { CheckpointName } from "../../store/checkpoints/threads/thread-names.ts";
import type { Tx } from "../../store/store.ts";
import type { OfficialCheckpoint, OfficialWrite, ThreadVersion, TypedValue } from "./source.ts";

/** Where an official saver keeps what, in the words of its engine and its version. */
export interface OfficialTables {
  /** `checkpoint_ns` of a checkpoint and of a write. */
  readonly ns: RawBuilder<string>;
  readonly parent_id: RawBuilder<string | null>;
  readonly type: RawBuilder<string | null>;
  readonly checkpoint: RawBuilder<Content>;
  readonly metadata: RawBuilder<Content>;
  /** The table of writes; one without rows if the saver had none yet. */
  readonly writes: RawBuilder<unknown>;
  readonly writtenValue: RawBuilder<Content>;
  readonly taskPath: RawBuilder<string>;
  /** The values that are not in the checkpoint's own JSON. */
  readonly channels: (tx: Tx, key: CheckpointKey) => Promise<OfficialCheckpoint["channels"]>;
}

type Content = string | Uint8Array | null;

export interface CheckpointKey extends CheckpointName {
  readonly thread_id: string;
}

export async function countThreads({ db }: Tx): Promise<number> {
  const { rows } = await sql<{ threads: number }>`
    SELECT count(DISTINCT thread_id) AS threads FROM checkpoints`.execute(db);
  return rows[0]?.threads ?? 0;
}

/** The threads that a condition names, in the order of their ids. */
export async function readVersions(
  { db }: Tx,
  { writes }: OfficialTables,
  { where, limit }: { readonly where: RawBuilder<unknown>; readonly limit: number },
): Promise<readonly ThreadVersion[]> {
  const { rows } = await sql<{
    thread_id: unknown;
    checkpoints: number;
    latest: string;
    writes: number;
  }>`
    SELECT thread_id, count(*) AS checkpoints, max(checkpoint_id) AS latest,
      (SELECT count(*) FROM ${writes} AS w WHERE w.thread_id = c.thread_id) AS writes
    FROM checkpoints AS c WHERE ${where}
    GROUP BY thread_id ORDER BY thread_id LIMIT ${limit}`.execute(db);
  return rows.map(({ thread_id, checkpoints, latest, writes }) => ({
    thread_id: typeof thread_id === "string" ? thread_id : null,
    version: `${checkpoints} ${writes} ${latest}`,
  }));
}

export async function readNames(
  { db }: Tx,
  { ns }: OfficialTables,
  thread_id: string,
): Promise<readonly CheckpointName[]> {
  const { rows } = await sql<Record<keyof CheckpointName, unknown>>`
    SELECT ${ns} AS ns, checkpoint_id FROM checkpoints WHERE thread_id = ${thread_id}
    ORDER BY checkpoint_id, ${ns}`.execute(db);
  return rows.map(({ ns, checkpoint_id }) => ({
    ns: textIn(ns),
    checkpoint_id: textIn(checkpoint_id),
  }));
}

export async function readCheckpoint(
  tx: Tx,
  tables: OfficialTables,
  key: CheckpointKey,
): Promise<OfficialCheckpoint> {
  const { rows } = await sql<Record<"parent_id" | "type" | "checkpoint" | "metadata", unknown>>`
    SELECT ${tables.parent_id} AS parent_id, ${tables.type} AS type,
      ${tables.checkpoint} AS checkpoint, ${tables.metadata} AS metadata
    FROM checkpoints
    WHERE thread_id = ${key.thread_id} AND ${tables.ns} = ${key.ns}
      AND checkpoint_id = ${key.checkpoint_id}`.execute(tx.db);
  const [row] = rows;
  if (row === undefined) {
    throw damagedSource();
  }
  const parent_id = row.parent_id === null ? null : textIn(row.parent_id) || null;
  return {
    ns: key.ns,
    checkpoint_id: key.checkpoint_id,
    parent_id,
    checkpoint: typedValue(row.type, row.checkpoint),
    channels: await tables.channels(tx, key),
    metadata: typedValue(row.type, row.metadata),
  };
}

export async function readWrites(
  { db }: Tx,
  { ns, writes, writtenValue, taskPath }: OfficialTables,
  key: CheckpointKey,
): Promise<readonly OfficialWrite[]> {
  type Column = "task_id" | "task_path" | "idx" | "channel" | "type" | "value";
  const { rows } = await sql<Record<Column, unknown>>`
    SELECT task_id, ${taskPath} AS task_path, idx, channel, type,
      ${writtenValue} AS value
    FROM ${writes} AS w
    WHERE thread_id = ${key.thread_id} AND ${ns} = ${key.ns}
      AND checkpoint_id = ${key.checkpoint_id}`.execute(db);
  return rows.map((row) => ({
    task_id: textIn(row.task_id),
    task_path: textIn(row.task_path),
    index: Number(row.idx),
    channel: textIn(row.channel),
    value: typedValue(row.type, row.value),
  }));
}

/** As the savers read it: without a type it is JSON. */
export function typedValue(type: unknown, content: unknown): TypedValue {
  if (typeof content !== "string" && !(content instanceof Uint8Array)) {
    throw damagedSource();
  }
  return { type: type === null ? "json" : textIn(type), content };
}

export function textIn(value: unknown): string {
  if (typeof value !== "string") {
    throw damagedSource();
  }
  return value;
}

export function damagedSource(): RepriseError {
  return new RepriseError(
    "database_corrupt",
    "The source has a row that LangGraph's saver does not write, such as a missing value. Correct or delete the row in the source and copy again.",
  );
}
