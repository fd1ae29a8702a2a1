import {
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  TASKS,
} from "@langchain/langgraph-checkpoint";

import type {
  CheckpointPage,
  CheckpointRead,
  ListTail,
  TaskWrites,
} from "../store/checkpoints/read.ts";
import { decodeValue, type MessageReader, type SharedValues } from "./messages/decode.ts";
import {
  copyMessage,
  copyMessages,
  frozen,
  sharedMessage,
  sharedMessages,
} from "./shared-messages.ts";
import { chainInMark, type MessageChain, messageListOf } from "../store/checkpoints/head-mark.ts";
import { configOf } from "./thread-key.ts";
import { inOrder } from "./write-order.ts";
import { joinTemplate } from "../store/checkpoints/template.ts";
import {
  headKey,
  keepBody,
  keepHead,
  keepValue,
  extendList,
  type KnownList,
  type KnownValue,
  lengthOf,
  type ThreadCache,
} from "./thread-cache.ts";

/** Takes what was read into the cache, and shares its messages. */
export function rememberPage(parts: {
  readonly page: CheckpointPage;
  readonly cache: ThreadCache;
  /** The lists that were passed to the read, at that time. */
  readonly lists: ReadonlyMap<number, KnownList>;
  /** True to share frozen messages with other readers, false to create each again. */
  readonly shared: boolean;
  /** The value that was left out of the read; undefined to share no values. */
  readonly value: KnownValue | null | undefined;
}): MessageReader {
  const chains = new Map(
    parts.page.checkpoints.map((checkpoint) => {
      const { list = 0 } = messageListOf(checkpoint.channels) ?? {};
      return [list, chainInMark(checkpoint)] as const;
    }),
  );
  const { page, cache, shared } = parts;
  const bodies = new Map(page.bodies.map((row) => [row.id, keepBody(cache, row)]));
  const lists = new Map(
    page.lists.map((tail) => {
      const chain = chains.get(tail.list) ?? null;
      return [tail.list, learnTail(cache, { ...tail, chain }, parts.lists)] as const;
    }),
  );
  const parted = new Set(page.lists.flatMap((tail) => (tail.isShownOnly ? tail.list : [])));
  for (const { ns, checkpoint_id, channels } of page.checkpoints) {
    keepHead(cache, headKey(ns, checkpoint_id), messageListOf(channels));
  }
  const text = (body: number) => known(bodies.get(body)).text;
  return {
    text,
    values: parts.value === undefined ? null : sharedValues(cache, parts.value),
    message: (body) => {
      const found = known(bodies.get(body));
      return shared ? sharedMessage(cache, found) : copyMessage(found);
    },
    messages: (list, length) => {
      const found = known(lists.get(list));
      const version = { list, length, isShownOnly: parted.has(list) };
      return shared ? sharedMessages(cache, found, version) : copyMessages(found, length);
    },
  };
}

function sharedValues(cache: ThreadCache, read: KnownValue | null): SharedValues {
  return {
    // the chunks of what was known were not read, whatever was kept since
    known: (key) => [read, cache.value].find((value) => value?.key === key) ?? null,
    keep: (key, value) => {
      keepValue(cache, { key, value: frozen(value), weight: JSON.stringify(value).length });
    },
  };
}

/** How many items are known of each list. */
export function lengthsOf(lists: ReadonlyMap<number, KnownList>): ReadonlyMap<number, number> {
  return new Map([...lists].map(([list, known]) => [list, lengthOf(known)]));
}

/** False if items that are wanted come before those that are known. */
export function isCovered(
  { start, isShownOnly }: ListTail,
  lists: ReadonlyMap<number, KnownList>,
): boolean {
  const first = start === null ? 0 : (lists.get(start.list)?.first ?? 0);
  return first === 0 || (isShownOnly && start !== null && start.length > first);
}

function learnTail(
  cache: ThreadCache,
  tail: ListTail & { readonly chain: MessageChain | null },
  lists: ReadonlyMap<number, KnownList>,
): KnownList {
  const base = tail.start === null ? null : known(lists.get(tail.start.list));
  const added = tail.items.map((row) => keepBody(cache, row));
  const { first, chain } = tail;
  const stored = { list: tail.list, length: tail.length };
  const from = { known: base, version: tail.start };
  return extendList({ cache, stored, base: from, added, first, chain });
}

function known<T>(value: T | undefined): T {
  if (value === undefined) {
    throw new RangeError("a checkpoint refers to something that was not read with it");
  }
  return value;
}

/** A checkpoint as LangGraph reads it. `firstVersion` is what a channel starts with. */
export async function tupleOf(
  read: CheckpointRead,
  reader: MessageReader,
  firstVersion: number,
): Promise<CheckpointTuple> {
  const { versions, untouched } = joinTemplate({ shape: read.shape, numbers: read.versions });
  const values: [name: string, value: unknown][] = [];
  for (const [name, json] of Object.entries(untouched)) {
    values.push([name, await decodeValue([json], reader)]);
  }
  for (const [name, value] of Object.entries(read.channels)) {
    values.push([name, await decodeValue(value, reader)]);
  }
  // unlike an assignment, this takes __proto__ for a name
  const channel_values: Record<string, unknown> = Object.fromEntries(values);
  const checkpoint = { ...versions, id: read.checkpoint_id, ts: read.ts, channel_values };
  if (versions.v < 4 && read.parent_id !== null) {
    const sends = await pendingWrites(read.parent_writes, reader);
    channel_values[TASKS] = sends
      .filter(([, channel]) => channel === TASKS)
      .map(([, , value]) => value);
    const all = Object.values(versions.channel_versions);
    checkpoint.channel_versions = {
      ...versions.channel_versions,
      [TASKS]: all.length > 0 ? maxChannelVersion(...all) : firstVersion,
    };
  }
  return {
    config: configOf(read, read.checkpoint_id),
    checkpoint,
    metadata: (await decodeValue(read.metadata, reader)) as CheckpointMetadata,
    ...(read.parent_id === null ? {} : { parentConfig: configOf(read, read.parent_id) }),
    pendingWrites: await pendingWrites(read.writes, reader),
  };
}

async function pendingWrites(
  tasks: readonly TaskWrites[],
  reader: MessageReader,
): Promise<CheckpointPendingWrite[]> {
  const pending: CheckpointPendingWrite[] = [];
  for (const { task_id, write } of inOrder(tasks)) {
    const [, channel, value] = write;
    pending.push([task_id, channel, await decodeValue(value, reader)]);
  }
  return pending;
}
