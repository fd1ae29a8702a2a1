import type { BaseMessage } from "@langchain/core/messages";

import type { PrunedIds } from "../store/checkpoints/plan-prune.ts";
import type { BodyRow } from "../store/tables/checkpoints.ts";
import type { ListVersion } from "../store/checkpoints/value.ts";
import { type Revive, reviverOf } from "./messages/message-codec.ts";
import type { Copier } from "./messages/copy-message.ts";
import type { Fingerprint, Fingerprints } from "./messages/message-hash.ts";
import { chained, type MessageChain, NO_MESSAGES } from "../store/checkpoints/head-mark.ts";

/** A body that the thread has. What it says never changes, so it may be kept. */
export interface KnownBody {
  readonly id: number;
  readonly hash: string;
  readonly text: string;
  /** Read when the first message is made of it. */
  revive: Revive | null;
  fingerprint: Fingerprint | null;
  /** Makes more messages of the fingerprint, once there is one and if it can. */
  copy: Copier | null;
  /** The frozen message that every exchange gets of it; null before the first asked. */
  shared: BaseMessage | null;
}

/** Part of a list that is known: its items from one on. */
export interface KnownList {
  /** Position of the first known item. */
  readonly first: number;
  readonly items: KnownBody[];
  /** See `ThreadPart`. */
  readonly family: object;
  readonly forked: number;
  /**
   * Frozen messages of the first items, so that a list of messages is compared with this one by
   * identity. It ends before a message that cannot be frozen and is created again for each reader.
   */
  readonly shared: BaseMessage[];
  /** Ids of the shared messages. */
  readonly ids: Set<string>;
  /** The hashes of the first items chained, from a length on and as far as somebody asked. */
  chain: KnownChain;
  /** Where the messages begin that the model is shown of the first `length` items; null if unknown. */
  shown: { readonly length: number; readonly from: number } | null;
}

interface KnownChain {
  readonly first: number;
  /** That of `first` items, then of one more each; empty if none is known. */
  readonly hashes: string[];
}

/** How many items a list has. */
export function lengthOf({ first, items }: KnownList): number {
  return first + items.length;
}

/** The known items of a list from one position to another. */
export function itemsBetween({ first, items }: KnownList, from: number, to: number): KnownBody[] {
  return items.slice(Math.max(0, from - first), Math.max(0, to - first));
}

/**
 * Cache of what is stored of one thread: only things that never change under their ids, filled in after the write
 * that stored them was committed. Which checkpoint is the latest is not among them: another process may have put one.
 */
export interface ThreadCache {
  readonly bodies: Map<number, KnownBody>;
  /** Ids by hash. */
  readonly ids: Map<string, number>;
  readonly fingerprints: Fingerprints;
  /** Token counts of messages by hash. */
  readonly tokens: Map<string, number>;
  /** The list used last is last. */
  readonly lists: Map<number, KnownList>;
  /** The messages of checkpoints by `headKey`; null for one that has none. */
  readonly heads: Map<string, ListVersion | null>;
  /** The value of chunks that was shared last: a thread of the built-in agent has one, its prefix. */
  value: KnownValue | null;
  /** UTF-16 units of all bodies, and of their messages if those are shared: see `addWeight`. */
  weight: number;
  /** Weight of all caches among which it is kept. */
  total: Weight;
}

/** A value that all readers share: frozen, and without messages. */
export interface KnownValue {
  /** As of `chunksKey`. */
  readonly key: string;
  readonly value: unknown;
  /** UTF-16 units of its JSON. */
  readonly weight: number;
}

export interface Weight {
  weight: number;
}

const LISTS_KEPT = 16;
const HEADS_KEPT = 256;

export function createThreadCache(total: Weight = { weight: 0 }): ThreadCache {
  return {
    bodies: new Map(),
    ids: new Map(),
    fingerprints: new WeakMap(),
    tokens: new Map(),
    lists: new Map(),
    heads: new Map(),
    value: null,
    weight: 0,
    total,
  };
}

export function addWeight(cache: ThreadCache, units: number): void {
  cache.weight += units;
  cache.total.weight += units;
}

export function keepBody(cache: ThreadCache, row: BodyRow): KnownBody {
  const known = cache.bodies.get(row.id);
  if (known !== undefined) {
    return known;
  }
  const body: KnownBody = {
    id: row.id,
    hash: row.hash,
    text: row.body,
    revive: null,
    fingerprint: null,
    copy: null,
    shared: null,
  };
  cache.bodies.set(row.id, body);
  cache.ids.set(row.hash, row.id);
  addWeight(cache, row.body.length);
  return body;
}

export function keepValue(cache: ThreadCache, known: KnownValue): void {
  addWeight(cache, known.weight - (cache.value?.weight ?? 0));
  cache.value = known;
}

/** UTF-16 units that a body takes: its text, and about as much once more for a shared message. */
export function weightOf({ text, shared }: KnownBody): number {
  return shared === null ? text.length : 2 * text.length;
}

/** The reviver of a body, made at its first use. */
export function reviveOf(body: KnownBody): Revive {
  return (body.revive ??= reviverOf(body.text));
}

function keepList(cache: ThreadCache, list: number, found: KnownList): void {
  const known = cache.lists.get(list);
  const longer = known !== undefined && lengthOf(known) >= lengthOf(found) ? known : found;
  keepLast(cache.lists, LISTS_KEPT, [list, longer]);
}

/**
 * Adds items after the first `length` items of a known list, which may be the list itself: then
 * it grows in place, as it did in the database.
 */
export function extendList(parts: {
  readonly cache: ThreadCache;
  /** The list version that all items are then. */
  readonly stored: ListVersion;
  readonly base: { readonly known: KnownList | null; readonly version: ListVersion | null };
  readonly added: readonly KnownBody[];
  /** Position of the first added item, if those before it were not read. */
  readonly first?: number;
  readonly chain?: MessageChain | null;
}): KnownList {
  const { cache, stored, added, first = 0 } = parts;
  const { known, version } = parts.base;
  const length = version?.length ?? 0;
  if (known !== null && version?.list === stored.list && lengthOf(known) === length) {
    for (const item of added) {
      known.items.push(item);
    }
    keepList(cache, stored.list, known);
    return known;
  }
  const all: KnownList = {
    first: known?.first ?? first,
    items: [...(known === null ? [] : itemsBetween(known, 0, length)), ...added],
    family: known?.family ?? {},
    forked: known === null ? Infinity : Math.min(known.forked, length),
    shared: [],
    ids: new Set(),
    shown: null,
    chain: known === null ? firstChain(first, parts.chain) : chainUpTo(known.chain, length),
  };
  keepList(cache, stored.list, all);
  return all;
}

function firstChain(first: number, stored: MessageChain | null | undefined): KnownChain {
  if (first === 0) {
    return { first: 0, hashes: [NO_MESSAGES.hash] };
  }
  return stored ? { first: stored.length, hashes: [stored.hash] } : { first: 0, hashes: [] };
}

function chainUpTo({ first, hashes }: KnownChain, length: number): KnownChain {
  return { first, hashes: hashes.slice(0, Math.max(0, length - first + 1)) };
}

/** Takes note of a chain that was found out while it was stored. */
export function keepChain(
  { lists }: ThreadCache,
  { list, chain }: { readonly list: number; readonly chain: MessageChain },
): void {
  const known = lists.get(list);
  if (known?.chain.hashes.length === 0) {
    known.chain = { first: chain.length, hashes: [chain.hash] };
  }
}

/**
 * The first items of a known list, chained; each is hashed once, however long the list gets. Null if
 * the chain of those that were not read is unknown.
 */
export function chainAt({ lists }: ThreadCache, version: ListVersion | null): MessageChain | null {
  if (version === null) {
    return NO_MESSAGES;
  }
  const known = lists.get(version.list);
  if (known === undefined) {
    return null;
  }
  const { first, hashes } = known.chain;
  let last = hashes.at(-1);
  if (last === undefined) {
    return null;
  }
  for (const item of itemsBetween(known, first + hashes.length - 1, version.length)) {
    last = chained(last, item.hash);
    hashes.push(last);
  }
  const hash = hashes[version.length - first];
  return hash === undefined ? null : { length: version.length, hash };
}

export function headKey(ns: string, checkpointId: string): string {
  return JSON.stringify([ns, checkpointId]);
}

export function keepHead(cache: ThreadCache, key: string, head: ListVersion | null): void {
  keepLast(cache.heads, HEADS_KEPT, [key, head]);
}

/** True when the checkpoint's messages are known, and the list that holds them. */
export function knowsHead(cache: ThreadCache, key: string): boolean {
  const head = cache.heads.get(key);
  return head === null || (head !== undefined && cache.lists.has(head.list));
}

/** Forgets the lists of which only the end is known, and returns the others. */
export function forgetParts({ lists }: ThreadCache): ReadonlyMap<number, KnownList> {
  for (const [list, { first }] of lists) {
    if (first > 0) {
      lists.delete(list);
    }
  }
  return new Map(lists);
}

/** Forgets what pruning removed. */
export function forgetPruned(cache: ThreadCache, pruned: PrunedIds): void {
  for (const { ns, checkpoint_id } of pruned.checkpoints) {
    cache.heads.delete(headKey(ns, checkpoint_id));
  }
  for (const list of pruned.lists) {
    cache.lists.delete(list);
  }
  for (const id of pruned.bodies) {
    const body = cache.bodies.get(id);
    if (body !== undefined) {
      cache.bodies.delete(id);
      cache.ids.delete(body.hash);
      addWeight(cache, -weightOf(body));
    }
  }
}

/** Makes an entry the last of a map, and drops the oldest while there are more than `max`. */
function keepLast<Key, Value>(map: Map<Key, Value>, max: number, [key, value]: [Key, Value]): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) {
      return;
    }
    map.delete(oldest);
  }
}
