import { BaseMessage } from "@langchain/core/messages";
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
} from "@langchain/langgraph-checkpoint";

import { RepriseError } from "../core/errors.ts";
import { parseThreadId } from "../core/threads.ts";
import { chained, MESSAGES, type MessageChain } from "../store/checkpoints/head-mark.ts";
import type { ChannelInput, CheckpointMirror, PutCheckpoint } from "../store/checkpoints/put.ts";
import type { ListVersion, StoredIds } from "../store/checkpoints/value.ts";
import { encodeJson, encodeValue } from "./encode.ts";
import { readMessage } from "../store/records/messages/message-json.ts";
import { mirrorOf as rowOf, tokenCountOf } from "../store/records/messages/mirror-row.ts";
import { type AddedSequence, createWriteBatch, type WriteBatchBuilder } from "./write-batch.ts";
import type { ThreadKey } from "./thread-key.ts";
import { splitTemplate } from "../store/checkpoints/template.ts";
import {
  chainAt,
  headKey,
  itemsBetween,
  keepChain,
  keepHead,
  type KnownBody,
  type ThreadCache,
} from "./thread-cache.ts";

/** Arguments that LangGraph gives to `put`. */
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
  learn(stored: StoredIds & { readonly chain: MessageChain | null }): void;
}

interface KnownParent {
  readonly cache: ThreadCache;
  /** The parent's messages; the cache has the list. */
  readonly parent: ListVersion | null;
}

/** A checkpoint split into plain data for the store, given what the thread is known to have. */
export function draftPut(put: Put, cache: ThreadCache): PutDraft {
  const { key, parent_id, checkpoint } = put;
  const builder = createWriteBatch(cache);
  const { channels, untouched } = channelsOf(put, builder);
  const { shape, numbers } = splitTemplate({ versions: checkpoint, untouched });
  const parent = parent_id === null ? null : (cache.heads.get(headKey(key.ns, parent_id)) ?? null);
  const messages = channels.find(({ name }) => name === MESSAGES);
  const inherited = messages !== undefined && "inherited" in messages ? parent : null;
  const index =
    messages !== undefined && "value" in messages && messages.value.kind === "sequence"
      ? messages.value.sequence
      : null;
  const sequence = index === null ? null : builder.sequenceAt(index);
  refuseLostStart(sequence, { cache, parent });
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
      chain: sequence === null ? chainAt(cache, inherited) : chainOf(sequence, cache),
      batch: builder.batch,
      mirror:
        sequence === null
          ? mirrorOfOne(put, { messages, parent })
          : mirrorOf(key, sequence, { cache, parent }),
    },
    learn: (stored) => {
      builder.learn(stored);
      const head = index === null ? inherited : (stored.sequences[index] ?? null);
      if (head !== null && stored.chain !== null) {
        keepChain(cache, { list: head.list, chain: stored.chain });
      }
      keepHead(cache, headKey(key.ns, checkpoint.id), head);
    },
  };
}

/**
 * Refuses to take the end of a thread for all of it: the messages before would be gone from the thread.
 * A reducer made another list, without the mark that it is only a part.
 */
function refuseLostStart(sequence: AddedSequence | null, { cache, parent }: KnownParent): void {
  const list = parent === null ? undefined : cache.lists.get(parent.list);
  if (sequence !== null && sequence.start === 0 && list !== undefined && list.first > 0) {
    throw new RepriseError(
      "internal",
      "The agent replaced the messages of a thread of which it had only the end. Report this.",
    );
  }
}

function channelsOf(
  put: Put,
  builder: WriteBatchBuilder,
): { channels: ChannelInput[]; untouched: Record<string, unknown> } {
  const { checkpoint, newVersions, parent_id } = put;
  // LangGraph 1.4's updateState applies what finished tasks wrote without raising the versions of
  // their channels; build/check/peers.ts runs a program that needs this
  const whole = put.whole || put.metadata.source === "update";
  const channels: ChannelInput[] = [];
  const untouched: [name: string, value: unknown][] = [];
  for (const [name, given] of Object.entries(checkpoint.channel_values)) {
    const isVersioned = Object.hasOwn(checkpoint.channel_versions, name);
    const isOld = isVersioned && !Object.hasOwn(newVersions, name);
    if (isOld && !whole) {
      // without a parent nothing is inherited; LangGraph's conformance suite expects the channel to
      // be absent
      channels.push(...(parent_id === null ? [] : [{ name, inherited: true } as const]));
      continue;
    }
    const value = encodeValue(given, builder);
    if (!isVersioned && value.kind === "inline" && value.refs.length === 0) {
      untouched.push([name, JSON.parse(value.json)]);
    } else {
      channels.push({ name, value });
    }
  }
  return { channels, untouched: Object.fromEntries(untouched) };
}

/**
 * The rows of those messages that a checkpoint adds to its parent's or changes; null for
 * subgraphs and threads of no session. What it removes has a row already and keeps it: the
 * history stays readable.
 */
function mirrorOf(
  { thread_id, ns }: ThreadKey,
  { messages, start, hashAt, known }: AddedSequence,
  { cache, parent }: KnownParent,
): CheckpointMirror | null {
  const session_id = sessionOf({ thread_id, ns });
  if (session_id === null) {
    return null;
  }
  const length = parent?.length ?? 0;
  const shared = known?.list === parent?.list ? Math.min(known?.length ?? 0, length) : 0;
  const list = parent === null ? undefined : cache.lists.get(parent.list);
  const before = list === undefined ? [] : itemsBetween(list, shared, length);
  const others = new Set(before.map((item) => item.hash));
  const tokensAt = (index: number): number => {
    const hash = hashAt(start + index);
    const tokens = cache.tokens.get(hash) ?? tokenCountOf(messages[index]);
    cache.tokens.set(hash, tokens);
    return tokens;
  };
  const more = messages.slice(shared - start);
  const shownAnew = shownAnewIds(more, {
    before,
    isKept: new Set(more.map((_, index) => hashAt(shared + index))),
  });
  const from = shownAnew.size === 0 ? shared - start : 0;
  const rows = messages.slice(from).flatMap(({ id }, place) => {
    const index = from + place;
    const isNew = start + index >= shared && !others.has(hashAt(start + index));
    return isNew || shownAnew.has(id) ? (rowOf(messages, index, tokensAt) ?? []) : [];
  });
  return { session_id, channel: MESSAGES, parent, messages: rows };
}

/**
 * Returns the ids of messages that are shown again. Of messages with the same id the last is shown: another one if
 * they change places, or if the last is taken away.
 */
function shownAnewIds(
  messages: readonly BaseMessage[],
  { before, isKept }: { before: readonly KnownBody[]; isKept: ReadonlySet<string> },
): ReadonlySet<string | undefined> {
  const once = new Set<string | undefined>();
  const ids = new Set<string | undefined>();
  for (const { id } of messages) {
    (once.has(id) ? ids : once).add(id);
  }
  for (const { hash, text } of before) {
    if (!isKept.has(hash)) {
      ids.add(readMessage(text)?.id);
    }
  }
  return ids;
}

/** Mirrors a channel without a reducer, which may hold one message and no list. */
function mirrorOfOne(
  { key, checkpoint }: Put,
  { messages, parent }: { messages: ChannelInput | undefined; parent: ListVersion | null },
): CheckpointMirror | null {
  const session_id = sessionOf(key);
  const only = checkpoint.channel_values[MESSAGES];
  if (
    session_id === null ||
    messages === undefined ||
    !("value" in messages) ||
    !BaseMessage.isInstance(only)
  ) {
    return null;
  }
  const row = rowOf([only], 0);
  return { session_id, channel: MESSAGES, parent, messages: row === null ? [] : [row] };
}

/** Null for subgraphs and threads of no session. */
function sessionOf({ thread_id, ns }: ThreadKey): string | null {
  return ns === "" ? (parseThreadId(thread_id)?.sessionId ?? null) : null;
}

/** The checkpoint's messages chained: those that are known already, then the new ones. */
function chainOf(
  { messages, start, hashAt, known }: AddedSequence,
  cache: ThreadCache,
): MessageChain | null {
  const first = chainAt(cache, known);
  if (first === null) {
    return null;
  }
  let { hash, length } = first;
  for (; length < start + messages.length; length += 1) {
    hash = chained(hash, hashAt(length));
  }
  return { length, hash };
}
