import {
  type MirrorInput,
  mirrorMessages,
  type StoredMessage,
} from "../records/messages/mirror.ts";
import { type Parameter, prepared } from "../prepared.ts";
import type { Operation, Tx } from "../store.ts";
import { type NewCalls, storeCalls } from "../records/model-calls/store-calls.ts";
import { BATCH, idsOf, keepBodies } from "../records/threads/bodies.ts";
import { markHash, markHead, type MessageChain, storedChain } from "./head-mark.ts";
import { showBranch } from "./forks/show-branch.ts";
import { checkLists, keepSequence } from "./lists.ts";
import type { CheckpointTable } from "../tables/checkpoints.ts";
import { type FencedThread, type HeldThread, holdThread, keepThread } from "./threads.ts";
import {
  at,
  type ListVersion,
  parseChannels,
  type WriteBatch,
  type StoredIds,
  type StoredChannels,
  metadataText,
  storedText,
  type ValueInput,
} from "./value.ts";

/** A channel's value in a new checkpoint: given, or the parent's unchanged. */
export type ChannelInput =
  | { readonly name: string; readonly value: ValueInput }
  | { readonly name: string; readonly inherited: true };

/**
 * Mirror rows that follow from a checkpoint, if its parent's version is the one that the
 * caller expects.
 */
export interface CheckpointMirror extends Omit<MirrorInput, "fence"> {
  readonly channel: string;
  /** The parent's version of the channel; null if it has none. */
  readonly parent: ListVersion | null;
}

type PutColumns = "ns" | "checkpoint_id" | "parent_id" | "ts" | "versions";

export interface PutCheckpoint extends FencedThread, Readonly<Pick<CheckpointTable, PutColumns>> {
  /** Index in `batch.bodies`. */
  readonly shape: number;
  readonly metadata: ValueInput;
  readonly channels: readonly ChannelInput[];
  /** The messages that it has then; null if the caller does not know them all. */
  readonly chain: MessageChain | null;
  readonly batch: WriteBatch;
  readonly mirror: CheckpointMirror | null;
  /** Requests of models that were made for it; they need a lease. */
  readonly calls?: NewCalls | null;
}

/**
 * Stores a checkpoint, or stores it again under the same id, and brings the mirror up to it, in
 * one transaction.
 *
 * Returns the ids under which the batch was stored. It is `stale`, and nothing is changed, when the
 * caller believed something stored that is not: a body, a list, a channel of the parent.
 *
 * Error codes: as `holdFence`.
 */
export const putCheckpoint: Operation<PutCheckpoint, StoredCheckpoint | "stale"> = async (
  tx,
  input,
) => {
  const held = await holdThread(tx, { ...input, hashes: hashesIn(input.batch) });
  const { parent_channels: channels } = held;
  const parent = channels === null ? null : parseChannels(channels);
  if (!hasInherited(parent, input) || !isExpectedParent(parent, input.mirror)) {
    return "stale";
  }
  const ids = await keepBatch(tx, { ...input, held });
  if (ids === "stale") {
    return ids;
  }
  await showBranch(tx, { ...input, head_id: held.head_id });
  const chain = await keepCheckpoint(tx, { input, parent, ids });
  const { mirror, fence } = input;
  await keepCalls(tx, input);
  const messages = mirror === null ? [] : await mirrorMessages(tx, { ...mirror, fence });
  return { ...ids, messages, chain };
};

/** Stores the requests that were made for a write. */
export async function keepCalls(
  tx: Tx,
  { fence, calls = null }: Pick<PutCheckpoint, "fence" | "calls">,
): Promise<void> {
  if (fence !== null && calls !== null) {
    await storeCalls(tx, fence, calls);
  }
}

export interface StoredCheckpoint extends StoredIds {
  /** The messages that the checkpoint adds or changes, as the mirror has them. */
  readonly messages: readonly StoredMessage[];
  /** The messages that a root checkpoint has; null for another one. */
  readonly chain: MessageChain | null;
}

/** Stores the row and, for a root checkpoint, moves the thread's mark to it; returns its chain. */
async function keepCheckpoint(
  tx: Tx,
  { input, parent, ids }: { input: PutCheckpoint; parent: StoredChannels | null; ids: StoredIds },
): Promise<MessageChain | null> {
  const { thread } = ids;
  const { ns, checkpoint_id } = input;
  const columns = {
    checkpoint_id,
    ts: input.ts,
    shape: at(ids.bodies, input.shape),
    versions: input.versions,
    channels: channelsText(input.channels, { parent, ids }),
    metadata: metadataText(storedText(input.metadata, ids)),
  };
  const row = { thread, ns, parent_id: input.parent_id, ...columns };
  const [stored] = await tx.rows(upsertCheckpoint, row);
  if (ns !== "" || stored === undefined) {
    return null;
  }
  const chain = input.chain ?? (await storedChain(tx, columns.channels));
  const hash = markHash(input.thread_id, { chain, columns });
  await markHead(tx, { thread, row: stored.id, length: chain.length, hash });
  return chain;
}

const upsertCheckpoint = prepared(({ db }, given: Parameter<Omit<CheckpointTable, "id">>) =>
  db
    .insertInto("checkpoints")
    .values(given.row())
    .onConflict((conflict) =>
      conflict.columns(["thread", "ns", "checkpoint_id"]).doUpdateSet(({ ref }) => ({
        parent_id: ref("excluded.parent_id"),
        ts: ref("excluded.ts"),
        shape: ref("excluded.shape"),
        versions: ref("excluded.versions"),
        channels: ref("excluded.channels"),
        metadata: ref("excluded.metadata"),
      })),
    )
    .returning("id"),
);

function hasInherited(parent: StoredChannels | null, input: PutCheckpoint): boolean {
  return input.channels.every(
    (channel) => "value" in channel || (parent !== null && Object.hasOwn(parent, channel.name)),
  );
}

function isExpectedParent(parent: StoredChannels | null, mirror: CheckpointMirror | null): boolean {
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

interface KeepBatch {
  readonly thread_id: string;
  /** With the bodies of `hashesIn`. */
  readonly held: HeldThread;
  readonly batch: WriteBatch;
}

/** Returns the hashes that `holdThread` searches for; none if they are too many for one statement. */
export function hashesIn({ bodies }: WriteBatch): readonly string[] {
  return bodies.length > BATCH ? [] : bodies.map(({ hash }) => hash);
}

/** Stores what the values of a write refer to; `stale` before anything is changed. */
export async function keepBatch(
  tx: Tx,
  { thread_id, held, batch }: KeepBatch,
): Promise<StoredIds | "stale"> {
  const { bodies, sequences } = batch;
  const { id: known } = held;
  const isMany = bodies.length > BATCH && known !== null;
  const found = isMany ? await idsOf(tx, { thread: known, bodies }) : held.bodies;
  if (bodies.some(({ hash, text }) => text === null && !found.has(hash))) {
    return "stale";
  }
  const lists = await checkLists(tx, { thread: known ?? 0, sequences });
  if (lists === "stale") {
    return "stale";
  }
  const thread = known ?? (await keepThread(tx, thread_id));
  const ids = await keepBodies(tx, { thread, bodies, found });
  const versions: ListVersion[] = [];
  for (const sequence of sequences) {
    const grown = lists === "grown";
    versions.push(await keepSequence(tx, { thread, sequence, bodies: ids, grown }));
  }
  return { thread, bodies: ids, sequences: versions };
}

/** Every inherited channel is in the parent: see `hasInherited`. */
function channelsText(
  channels: readonly ChannelInput[],
  { parent, ids }: { parent: StoredChannels | null; ids: StoredIds },
): string {
  const members = channels.map((channel) => {
    const value =
      "value" in channel ? storedText(channel.value, ids) : JSON.stringify(parent?.[channel.name]);
    return `${JSON.stringify(channel.name)}:${value}`;
  });
  return `{${members.join(",")}}`;
}
