import { BaseMessage } from "@langchain/core/messages";

import {
  at,
  type BodyInput,
  type ListVersion,
  type WriteBatch,
  type StoredIds,
  type SequenceInput,
} from "../store/checkpoints/value.ts";
import { textHash } from "../store/checkpoints/bodies.ts";
import { bodyText } from "./message-codec.ts";
import { messageHash } from "./message-hash.ts";
import { extendList, keepBody, type KnownBody, type ThreadCache } from "./thread-cache.ts";

/** Collects what the values of one write refer to, each body and each sequence once. */
export interface WriteBatchBuilder {
  /** Index of the message's body. */
  addMessage(message: BaseMessage): number;
  /** Index of a text that is to be kept once. */
  addText(text: string): number;
  /** Index of a sequence of messages; null if one of the values is none. */
  addSequence(values: readonly unknown[]): number | null;
  /** A sequence when it was added. */
  sequenceAt(index: number): AddedSequence;
  readonly batch: WriteBatch;
  /** Takes note of what the committed write stored. */
  learn(stored: StoredIds): void;
}

export interface AddedSequence {
  readonly messages: readonly BaseMessage[];
  /** Hash of the message at an index. */
  readonly hashAt: (index: number) => string;
  /** How far it matches a list that is known to be stored. */
  readonly known: ListVersion | null;
}

export function createWriteBatch(cache: ThreadCache): WriteBatchBuilder {
  const bodies: BodyInput[] = [];
  const indexes = new Map<string, number>();
  const sequences: SequenceInput[] = [];
  const added: AddedSequence[] = [];

  const addBody = (hash: string, text: () => string): number => {
    const index = indexes.get(hash);
    if (index !== undefined) {
      return index;
    }
    indexes.set(hash, bodies.length);
    return bodies.push({ hash, text: cache.ids.has(hash) ? null : text() }) - 1;
  };
  const addMessage = (message: BaseMessage): number =>
    addBody(messageHash(message), () => bodyText(message));

  return {
    batch: { bodies, sequences },
    addMessage,
    addText: (text) => addBody(textHash(text), () => text),
    addSequence: (values) => {
      const shared = sharedLengths(cache, values);
      const from = Math.max(0, ...shared.values());
      if (!onlyMessages(values, from)) {
        return null;
      }
      const messages = values;
      const hashAt = hashesOf(messages);
      const known = longestKnown(cache, { messages, hashAt, shared });
      const sequence: AddedSequence = { messages, hashAt, known };
      const same = added.findIndex((other) => sameSequence(sequence, other));
      if (same !== -1) {
        return same;
      }
      const rest = messages.slice(known?.length ?? 0).map(addMessage);
      added.push(sequence);
      return sequences.push({ known, rest }) - 1;
    },
    sequenceAt: (index) => at(added, index),
    learn: (stored) => {
      learnBodies(cache, bodies, stored);
      for (const [index, { known, rest }] of sequences.entries()) {
        const added = rest.flatMap((body) => {
          const id = cache.ids.get(bodies[body]?.hash ?? "");
          return id === undefined ? [] : (cache.bodies.get(id) ?? []);
        });
        learnSequence(cache, { known, added }, stored.sequences[index]);
      }
    },
  };
}

/** True if all values from an index on are messages, and the caller knows it of those before. */
function onlyMessages(values: readonly unknown[], from: number): values is readonly BaseMessage[] {
  return values.slice(from).every((value) => BaseMessage.isInstance(value));
}

/** Hashes by index, each computed once and only if it is needed. */
function hashesOf(messages: readonly BaseMessage[]): (index: number) => string {
  const hashes = new Map<number, string>();
  return (index) => {
    const known = hashes.get(index) ?? messageHash(at(messages, index));
    hashes.set(index, known);
    return known;
  };
}

/** How many of the first values are shared messages of each list: frozen, they need no hash. */
function sharedLengths(cache: ThreadCache, values: readonly unknown[]): Map<number, number> {
  const lengths = new Map<number, number>();
  for (const [list, { shared }] of cache.lists) {
    const end = Math.min(values.length, shared.length);
    let length = 0;
    while (length < end && shared[length] === values[length]) {
      length += 1;
    }
    lengths.set(list, length);
  }
  return lengths;
}

/** The stored list that matches the longest part of the sequence. */
function longestKnown(
  cache: ThreadCache,
  sequence: Omit<AddedSequence, "known"> & { readonly shared: ReadonlyMap<number, number> },
): ListVersion | null {
  const { messages, hashAt, shared } = sequence;
  let best: ListVersion | null = null;
  for (const [list, { items }] of cache.lists) {
    const end = Math.min(messages.length, items.length);
    let length = shared.get(list) ?? 0;
    while (length < end && items[length]?.hash === hashAt(length)) {
      length += 1;
    }
    if (length > 0 && length >= (best?.length ?? 0)) {
      best = { list, length };
    }
  }
  return best;
}

function sameSequence(some: AddedSequence, other: AddedSequence): boolean {
  const { length } = some.messages;
  const from = some.known?.length ?? 0;
  return (
    length === other.messages.length &&
    some.known?.list === other.known?.list &&
    from === (other.known?.length ?? 0) &&
    some.messages.every((_, index) => index < from || some.hashAt(index) === other.hashAt(index))
  );
}

function learnBodies(cache: ThreadCache, bodies: readonly BodyInput[], stored: StoredIds): void {
  for (const [index, { hash, text }] of bodies.entries()) {
    const id = stored.bodies[index];
    if (id !== undefined && text !== null) {
      keepBody(cache, { id, hash, body: text });
    }
  }
}

/** Nothing if another write of this thread has made the cache forget what this one builds on. */
function learnSequence(
  cache: ThreadCache,
  { known: version, added }: { known: ListVersion | null; added: readonly KnownBody[] },
  stored: ListVersion | undefined,
): void {
  const known = version === null ? null : cache.lists.get(version.list);
  const length = version?.length ?? 0;
  if (
    known !== undefined &&
    (known?.items.length ?? 0) >= length &&
    stored?.length === length + added.length
  ) {
    extendList({ cache, stored, base: { known, version }, added });
  }
}
