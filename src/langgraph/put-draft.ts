import type { BaseMessage } from "@langchain/core/messages";
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
} from "@langchain/langgraph-checkpoint";

import { chained, MESSAGES, type MessageChain } from "../store/checkpoints/head-mark.ts";
import type { ChannelInput, PutCheckpoint } from "../store/checkpoints/put.ts";
import type { ListVersion, StoredIds } from "../store/checkpoints/value.ts";
import { encodeJson, encodeValue } from "./encode.ts";
import { mirroredSession, mirrorRows } from "./mirror.ts";
import { createWriteBatch, type WriteBatchBuilder } from "./write-batch.ts";
import type { ThreadKey } from "./thread-key.ts";
import { splitTemplate } from "../store/checkpoints/template.ts";
import { chainAt, headKey, keepHead, type ThreadCache } from "./thread-cache.ts";

/** What LangGraph hands to `put`. */
export interface Put {
  readonly place: ThreadKey;
  readonly parent_id: string | null;
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  /** The channels that are not as the parent has them. */
  readonly newVersions: ChannelVersions;
  /** True to store every channel, whatever the parent has. */
  readonly whole: boolean;
}

export interface PutDraft {
  readonly input: Omit<PutCheckpoint, "fence">;
  /** Takes note of what was stored, once it is committed. */
  learn(placed: StoredIds): void;
}

/** A checkpoint split into plain data for the store, given what the thread is known to have. */
export function draftPut(put: Put, cache: ThreadCache): PutDraft {
  const { place, parent_id, checkpoint } = put;
  const parcel = createWriteBatch(cache);
  const { channels, untouched } = channelsOf(put, parcel);
  const messages = channels.find(({ name }) => name === MESSAGES);
  const parent =
    parent_id === null ? null : (cache.heads.get(headKey(place.ns, parent_id)) ?? null);
  const { shape, numbers } = splitTemplate({ versions: checkpoint, untouched });
  return {
    input: {
      ...place,
      checkpoint_id: checkpoint.id,
      parent_id,
      ts: checkpoint.ts,
      shape: parcel.addText(shape),
      versions: numbers,
      metadata: encodeJson(put.metadata, parcel),
      channels,
      chain: chainOfPut({ messages, parent, parcel, cache }),
      parcel: parcel.parcel,
      mirror: mirrorFor({ put, messages, parent, parcel, cache }),
    },
    learn: (placed) => {
      parcel.learn(placed);
      keepHead(cache, headKey(place.ns, checkpoint.id), headOf({ messages, placed, parent }));
    },
  };
}

function channelsOf(
  put: Put,
  parcel: WriteBatchBuilder,
): { channels: ChannelInput[]; untouched: Record<string, unknown> } {
  const { checkpoint, newVersions, parent_id } = put;
  // updateState applies what finished tasks wrote without raising the versions of their channels
  const whole = put.whole || put.metadata.source === "update";
  const channels: ChannelInput[] = [];
  const untouched: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(checkpoint.channel_values)) {
    const isVersioned = name in checkpoint.channel_versions;
    const isOld = isVersioned && !(name in newVersions);
    if (isOld && !whole) {
      // without a parent there is nobody to have it from: the suite has it that it is left out
      channels.push(...(parent_id === null ? [] : [{ name, inherited: true } as const]));
      continue;
    }
    const value = encodeValue(given, parcel);
    if (!isVersioned && value.kind === "inline" && value.refs.length === 0) {
      untouched[name] = JSON.parse(value.json);
    } else {
      channels.push({ name, value });
    }
  }
  return { channels, untouched };
}

function mirrorFor(parts: {
  put: Put;
  messages: ChannelInput | undefined;
  parent: ListVersion | null;
  parcel: WriteBatchBuilder;
  cache: ThreadCache;
}): PutCheckpoint["mirror"] {
  const { put, messages, parent, parcel, cache } = parts;
  const session_id = mirroredSession(put.place);
  const sequence = sequenceOf(messages);
  return session_id === null || sequence === null
    ? null
    : mirrorRows({
        session_id,
        messages: put.checkpoint.channel_values[MESSAGES] as BaseMessage[],
        sequence: parcel.sequenceAt(sequence),
        parent,
        cache,
      });
}

/** The checkpoint's messages chained: those that are known already, then the new ones. */
function chainOfPut(parts: {
  messages: ChannelInput | undefined;
  parent: ListVersion | null;
  parcel: WriteBatchBuilder;
  cache: ThreadCache;
}): MessageChain {
  const { messages, parent, parcel, cache } = parts;
  if (messages !== undefined && "inherited" in messages) {
    return chainAt(cache, parent);
  }
  const place = sequenceOf(messages);
  if (place === null) {
    return chainAt(cache, null);
  }
  const sequence = parcel.sequenceAt(place);
  const { length } = sequence.messages;
  let { hash, length: index } = chainAt(cache, sequence.known);
  for (; index < length; index += 1) {
    hash = chained(hash, sequence.hashAt(index));
  }
  return { length, hash };
}

/** The list version that the checkpoint's messages are then. */
function headOf(parts: {
  messages: ChannelInput | undefined;
  placed: StoredIds;
  parent: ListVersion | null;
}): ListVersion | null {
  const { messages, placed, parent } = parts;
  if (messages !== undefined && "inherited" in messages) {
    return parent;
  }
  const sequence = sequenceOf(messages);
  return sequence === null ? null : (placed.sequences[sequence] ?? null);
}

function sequenceOf(channel: ChannelInput | undefined): number | null {
  return channel !== undefined && "value" in channel && channel.value.kind === "sequence"
    ? channel.value.sequence
    : null;
}
