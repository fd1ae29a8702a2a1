import {
  type Checkpoint,
  type CheckpointMetadata,
  maxChannelVersion,
  TASKS,
} from "@langchain/langgraph-checkpoint";

import type { CheckpointName } from "../../store/checkpoints/threads/thread-names.ts";
import { decodeTyped, type SeenMessages } from "./decode-official.ts";
import type { OfficialCheckpoint, OfficialThread, OfficialWrite } from "./source.ts";
import { damagedSource } from "./tables.ts";

/** A checkpoint with what its tasks wrote, as its saver reads it. */
export interface OfficialState {
  readonly name: CheckpointName;
  readonly parent_id: string | null;
  /** As it is stored: without the sends of `parentTasks`. */
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  readonly tasks: readonly OfficialTask[];
  /** Writes of the parent's tasks, if sends are among them: so in versions older than 4. */
  readonly parentTasks: readonly OfficialTask[] | null;
  /** Amount that was read of it, in UTF-16 units or bytes. */
  readonly size: number;
}

/** Writes of one task, by index. */
export interface OfficialTask {
  readonly task_id: string;
  readonly task_path: string;
  readonly writes: readonly OfficialValue[];
}

interface OfficialValue {
  readonly index: number;
  readonly channel: string;
  readonly value: unknown;
}

/** The first version of checkpoints that hold their sends themselves. */
const SENDS_SINCE = 4;

/**
 * Reads one checkpoint. Error codes: `database_corrupt` if it is none; `database_unsupported` if
 * another library or serializer wrote it.
 */
export async function readState(
  thread: OfficialThread,
  name: CheckpointName,
  seen: SeenMessages,
): Promise<OfficialState> {
  const stored = await thread.read(name);
  const checkpoint = await checkpointOf(stored, seen);
  const { parent_id } = stored;
  const writes = await thread.readWrites(name);
  const metadata = await decodeTyped(stored.metadata, seen);
  if (!isRecord(metadata)) {
    throw damagedSource();
  }
  return {
    name,
    parent_id,
    checkpoint,
    metadata: metadata as unknown as CheckpointMetadata,
    tasks: await tasksOf(writes, seen),
    parentTasks:
      checkpoint.v < SENDS_SINCE && parent_id !== null
        ? await tasksOf(await thread.readWrites({ ...name, checkpoint_id: parent_id }), seen)
        : null,
    size: sizeOf(stored, writes),
  };
}

async function checkpointOf(
  { checkpoint_id, checkpoint, channels }: OfficialCheckpoint,
  seen: SeenMessages,
): Promise<Checkpoint> {
  const record = await decodeTyped(checkpoint, seen);
  if (!isRecord(record)) {
    throw damagedSource();
  }
  const { v, id, ts, channel_values = {}, channel_versions = {}, versions_seen = {} } = record;
  const areRead =
    isRecord(channel_values) &&
    areVersions(channel_versions) &&
    isRecord(versions_seen) &&
    Object.values(versions_seen).every(areVersions);
  if (typeof v !== "number" || id !== checkpoint_id || typeof ts !== "string" || !areRead) {
    throw damagedSource();
  }
  const values = new Map(Object.entries(channel_values as object));
  for (const { name, value } of channels) {
    values.set(name, await decodeTyped(value, seen));
  }
  return {
    v,
    id: checkpoint_id,
    ts,
    channel_values: Object.fromEntries(values),
    channel_versions: channel_versions as Checkpoint["channel_versions"],
    versions_seen: versions_seen as Checkpoint["versions_seen"],
  };
}

function areVersions(versions: unknown): boolean {
  return (
    isRecord(versions) &&
    Object.values(versions).every((one) => typeof one === "string" || Number.isFinite(one))
  );
}

/** Ordered as our saver returns them: by path, task and index. */
async function tasksOf(
  writes: readonly OfficialWrite[],
  seen: SeenMessages,
): Promise<readonly OfficialTask[]> {
  const tasks = new Map<string, OfficialTask & { writes: OfficialValue[] }>();
  for (const { task_id, task_path, index, channel, value } of sorted(writes)) {
    const task = tasks.get(task_id) ?? { task_id, task_path, writes: [] };
    task.writes.push({ index, channel, value: await decodeTyped(value, seen) });
    tasks.set(task_id, task);
  }
  return [...tasks.values()];
}

function sorted(writes: readonly OfficialWrite[]): readonly OfficialWrite[] {
  return writes.toSorted(
    (one, other) =>
      compare(one.task_path, other.task_path) ||
      compare(one.task_id, other.task_id) ||
      one.index - other.index,
  );
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The checkpoint as a saver returns it, with the sends that are not stored in it. */
export function checkpointWithSends({ checkpoint, parentTasks }: OfficialState): Checkpoint {
  if (parentTasks === null) {
    return checkpoint;
  }
  const written = parentTasks.flatMap(({ writes }) => writes);
  const sends = written.filter(({ channel }) => channel === TASKS).map(({ value }) => value);
  const versions = Object.values(checkpoint.channel_versions);
  return {
    ...checkpoint,
    channel_values: { ...checkpoint.channel_values, [TASKS]: sends },
    channel_versions: {
      ...checkpoint.channel_versions,
      [TASKS]: versions.length > 0 ? maxChannelVersion(...versions) : 1,
    },
  };
}

function sizeOf(
  { checkpoint, channels, metadata }: OfficialCheckpoint,
  writes: readonly OfficialWrite[],
): number {
  const values = [checkpoint, metadata, ...channels.map(({ value }) => value)];
  return [...values, ...writes.map(({ value }) => value)].reduce(
    (sum, { content }) => sum + content.length,
    0,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
