import type { Fence } from "../leases/fence.ts";
import { type MirrorInput, mirrorMessages, type StoredMessage } from "../messages/mirror.ts";
import type { Operation, Tx } from "../store.ts";
import { findBodies, keepBodies } from "./bodies.ts";
import { markHash, markHead, type MessageChain } from "./head-mark.ts";
import { haveLists, keepSequence } from "./lists.ts";
import { findThread, holdThread, keepThread } from "./threads.ts";
import {
  at,
  type ListVersion,
  type WriteBatch,
  type StoredIds,
  storedText,
  type StoredValue,
  type ValueInput,
} from "./value.ts";

/** A channel's value in a new checkpoint: given, or the parent's as it is. */
export type ChannelInput =
  | { readonly name: string; readonly value: ValueInput }
  | { readonly name: string; readonly inherited: true };

/** Mirror rows that follow from a checkpoint, given that its parent stands where the caller thinks. */
export interface CheckpointMirror extends MirrorInput {
  readonly channel: string;
  /** The parent's version of the channel; null where it has none. */
  readonly parent: ListVersion | null;
}

export interface PutCheckpoint {
  readonly thread_id: string;
  readonly ns: string;
  readonly checkpoint_id: string;
  readonly parent_id: string | null;
  readonly ts: string;
  /** Place in `parcel.bodies`. */
  readonly shape: number;
  readonly versions: string;
  readonly metadata: ValueInput;
  readonly channels: readonly ChannelInput[];
  /** The messages that it has then. */
  readonly chain: MessageChain;
  readonly parcel: WriteBatch;
  readonly mirror: CheckpointMirror | null;
  readonly fence: Fence | null;
}

/**
 * Stores a checkpoint, or stores it again under the same id, and brings the mirror up to it, in
 * one transaction.
 *
 * The answer says where the parcel came to lie. It is `stale`, and nothing is changed, when the
 * caller believed something stored that is not: a body, a list, a channel of the parent.
 *
 * Error codes: as `holdFence`.
 */
export const putCheckpoint: Operation<PutCheckpoint, StoredCheckpoint | "stale"> = async (
  tx,
  input,
) => {
  await holdThread(tx, input);
  const parent = await readParent(tx, input);
  const channels = parent?.channels ?? null;
  if (!hasInherited(channels, input) || !standsAt(channels, input.mirror)) {
    return "stale";
  }
  const placed = await keepBatch(tx, { ...input, thread: parent?.thread });
  if (placed === "stale") {
    return placed;
  }
  await keepCheckpoint(tx, { input, parent: channels, placed });
  const messages = input.mirror === null ? [] : await mirrorMessages(tx, input.mirror);
  return { ...placed, messages };
};

export interface StoredCheckpoint extends StoredIds {
  /** The messages that the checkpoint adds or changes, as the mirror has them. */
  readonly messages: readonly StoredMessage[];
}

/** Stores the row and, for a root checkpoint, moves the thread's mark to it. */
async function keepCheckpoint(
  tx: Tx,
  { input, parent, placed }: { input: PutCheckpoint; parent: Channels | null; placed: StoredIds },
): Promise<void> {
  const { thread } = placed;
  const { ns, checkpoint_id } = input;
  const row = {
    parent_id: input.parent_id,
    ts: input.ts,
    shape: at(placed.bodies, input.shape),
    versions: input.versions,
    channels: channelsText(input.channels, { parent, placed }),
    metadata: storedText(input.metadata, placed),
  };
  const { id } = await tx.db
    .insertInto("checkpoints")
    .values({ thread, ns, checkpoint_id, ...row })
    .onConflict((conflict) => conflict.columns(["thread", "ns", "checkpoint_id"]).doUpdateSet(row))
    .returning("id")
    .executeTakeFirstOrThrow();
  if (ns === "") {
    const { chain } = input;
    const hash = markHash(input.thread_id, { chain, columns: { checkpoint_id, ...row } });
    await markHead(tx, { thread, row: id, length: chain.length, hash });
  }
}

type Channels = Readonly<Record<string, StoredValue>>;

async function readParent(
  tx: Tx,
  input: Pick<PutCheckpoint, "thread_id" | "ns" | "parent_id">,
): Promise<{ readonly thread: number; readonly channels: Channels } | null> {
  if (input.parent_id === null) {
    return null;
  }
  const row = await tx.db
    .selectFrom("checkpoints")
    .innerJoin("checkpoint_threads", "checkpoint_threads.id", "checkpoints.thread")
    .select(["thread", "channels"])
    .where("checkpoint_threads.thread_id", "=", input.thread_id)
    .where("ns", "=", input.ns)
    .where("checkpoint_id", "=", input.parent_id)
    .executeTakeFirst();
  return row === undefined
    ? null
    : { thread: row.thread, channels: JSON.parse(row.channels) as Channels };
}

function hasInherited(parent: Channels | null, input: PutCheckpoint): boolean {
  return input.channels.every(
    (channel) => "value" in channel || parent?.[channel.name] !== undefined,
  );
}

function standsAt(parent: Channels | null, mirror: CheckpointMirror | null): boolean {
  if (mirror === null) {
    return true;
  }
  const value = parent?.[mirror.channel];
  if (value === undefined || !("l" in value)) {
    return mirror.parent === null;
  }
  const [list, length] = value.l;
  return list === mirror.parent?.list && length === mirror.parent.length;
}

interface KeepParcel {
  readonly thread_id: string;
  /** The thread's number where the caller has read it. */
  readonly thread?: number | undefined;
  readonly parcel: WriteBatch;
}

/** Stores what the values of a write refer to; `stale` before anything is changed. */
export async function keepBatch(
  tx: Tx,
  { thread_id, thread: given, parcel }: KeepParcel,
): Promise<StoredIds | "stale"> {
  const { bodies, sequences } = parcel;
  const known = given ?? (await findThread(tx, thread_id));
  const found =
    known === null
      ? bodies.some((body) => body.text === null)
        ? null
        : new Map<string, number>()
      : await findBodies(tx, { thread: known, bodies });
  if (found === null || !(await haveLists(tx, { thread: known ?? 0, sequences }))) {
    return "stale";
  }
  const thread = known ?? (await keepThread(tx, thread_id));
  const ids = await keepBodies(tx, { thread, bodies, found });
  const versions: ListVersion[] = [];
  for (const sequence of sequences) {
    versions.push(await keepSequence(tx, { thread, sequence, bodies: ids }));
  }
  return { thread, bodies: ids, sequences: versions };
}

function channelsText(
  channels: readonly ChannelInput[],
  { parent, placed }: { parent: Channels | null; placed: StoredIds },
): string {
  const members: string[] = [];
  for (const channel of channels) {
    const value =
      "value" in channel ? storedText(channel.value, placed) : inherited(channel, parent);
    if (value !== null) {
      members.push(`${JSON.stringify(channel.name)}:${value}`);
    }
  }
  return `{${members.join(",")}}`;
}

function inherited({ name }: ChannelInput, parent: Channels | null): string | null {
  const value = parent?.[name];
  return value === undefined ? null : JSON.stringify(value);
}
