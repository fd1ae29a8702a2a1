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
  readonly key: ThreadKey;
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
  learn(stored: StoredIds): void;
}

/** A checkpoint split into plain data for the store, given what the thread is known to have. */
export function draftPut(put: Put, cache: ThreadCache): PutDraft {
  const { key, parent_id, checkpoint } = put;
  const builder = createWriteBatch(cache);
  const { channels, untouched } = channelsOf(put, builder);
  const messages = channels.find(({ name }) => name === MESSAGES);
  const parent = parent_id === null ? null : (cache.heads.get(headKey(key.ns, parent_id)) ?? null);
  const { shape, numbers } = splitTemplate({ versions: checkpoint, untouched });
  return {
    input: {
      ...key,
      checkpoint_id: checkpoint.id,
      parent_id,
      ts: checkpoint.ts,
      shape: builder.addText(shape),
      versions: numbers,
      metadata: encodeJson(put.metadata, builder),
      channels,
      chain: chainOfPut({ messages, parent, builder, cache }),
      batch: builder.batch,
      mirror: mirrorFor({ put, messages, parent, builder, cache }),
    },
    learn: (stored) => {
      builder.learn(stored);
      keepHead(cache, headKey(key.ns, checkpoint.id), headOf({ messages, stored, parent }));
    },
  };
}

function channelsOf(
  put: Put,
  builder: WriteBatchBuilder,
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
    const value = encodeValue(given, builder);
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
  builder: WriteBatchBuilder;
  cache: ThreadCache;
}): PutCheckpoint["mirror"] {
  const { put, messages, parent, builder, cache } = parts;
  const session_id = mirroredSession(put.key);
  const sequence = sequenceOf(messages);
  return session_id === null || sequence === null
    ? null
    : mirrorRows({
        session_id,
        messages: put.checkpoint.channel_values[MESSAGES] as BaseMessage[],
        sequence: builder.sequenceAt(sequence),
        parent,
        cache,
      });
}

/** The checkpoint's messages chained: those that are known already, then the new ones. */
function chainOfPut(parts: {
  messages: ChannelInput | undefined;
  parent: ListVersion | null;
  builder: WriteBatchBuilder;
  cache: ThreadCache;
}): MessageChain {
  const { messages, parent, builder, cache } = parts;
  if (messages !== undefined && "inherited" in messages) {
    return chainAt(cache, parent);
  }
  const index = sequenceOf(messages);
  if (index === null) {
    return chainAt(cache, null);
  }
  const sequence = builder.sequenceAt(index);
  const { length } = sequence.messages;
  let { hash, length: at } = chainAt(cache, sequence.known);
  for (; at < length; at += 1) {
    hash = chained(hash, sequence.hashAt(at));
  }
  return { length, hash };
}

/** The list version that the checkpoint's messages are then. */
function headOf(parts: {
  messages: ChannelInput | undefined;
  stored: StoredIds;
  parent: ListVersion | null;
}): ListVersion | null {
  const { messages, stored, parent } = parts;
  if (messages !== undefined && "inherited" in messages) {
    return parent;
  }
  const sequence = sequenceOf(messages);
  return sequence === null ? null : (stored.sequences[sequence] ?? null);
}

function sequenceOf(channel: ChannelInput | undefined): number | null {
  return channel !== undefined && "value" in channel && channel.value.kind === "sequence"
    ? channel.value.sequence
    : null;
}
