import { BaseMessage } from "@langchain/core/messages";

import {
  at,
  type ListVersion,
  type WriteBatch,
  type StoredIds,
  type SequenceInput,
} from "../store/checkpoints/value.ts";
import { type BodyInput, textHash } from "../store/records/threads/bodies.ts";
import { chunkBody } from "../store/checkpoints/value-json.ts";
import { bodyText } from "./messages/message-codec.ts";
import { hashesOf, longestMatch } from "./match-list.ts";
import { messageHash } from "./messages/message-hash.ts";
import {
  extendList,
  keepBody,
  type KnownBody,
  lengthOf,
  type ThreadCache,
} from "./thread-cache.ts";
import { partOf } from "./thread-part.ts";

/** Collects what the values of one write refer to, each body and each sequence once. */
export interface WriteBatchBuilder {
  /** Index of the message's body. */
  addMessage(message: BaseMessage): number;
  /** Index of a text that is to be kept once. */
  addText(text: string): number;
  /** Index of a chunk of a value's JSON. */
  addChunk(text: string): number;
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
  /** How many of the thread's messages come before these: see `ThreadPart`. */
  readonly start: number;
  /** Hash of the message at a position of the thread. */
  readonly hashAt: (position: number) => string;
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
  const addText = (text: string): number => addBody(textHash(text), () => text);
  const addMessage = (message: BaseMessage, hash: string): number =>
    addBody(hash, () => bodyText(message));

  return {
    batch: { bodies, sequences },
    addMessage: (message) => addMessage(message, messageHash(message, cache.fingerprints)),
    addText,
    addChunk: (text) => addText(chunkBody(text)),
    addSequence: (values) => {
      const part = partOf(values);
      const match = longestMatch(cache, values, part);
      const start = part?.length ?? 0;
      const from = match?.length ?? 0;
      if (!areMessages(values, from - start)) {
        return null;
      }
      const rest = hashesOf(cache, values.slice(from - start));
      const hashAt = (position: number) =>
        position < from ? at(match?.items ?? [], position - start).hash : at(rest, position - from);
      const known = match === null ? null : { list: match.list, length: from };
      const sequence: AddedSequence = { messages: values, start, hashAt, known };
      const same = added.findIndex((other) => sameSequence(sequence, other));
      if (same !== -1) {
        return same;
      }
      added.push(sequence);
      const bodies = rest.map((hash, index) => addMessage(at(values, from - start + index), hash));
      return sequences.push({ known, rest: bodies }) - 1;
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

/** True if all values from an index on are messages; those before are known to be. */
function areMessages(values: readonly unknown[], from: number): values is readonly BaseMessage[] {
  for (let index = from; index < values.length; index += 1) {
    if (!BaseMessage.isInstance(values[index])) {
      return false;
    }
  }
  return true;
}

function sameSequence(some: AddedSequence, other: AddedSequence): boolean {
  const length = some.start + some.messages.length;
  const from = some.known?.length ?? 0;
  if (
    length !== other.start + other.messages.length ||
    some.known?.list !== other.known?.list ||
    from !== (other.known?.length ?? 0)
  ) {
    return false;
  }
  for (let index = from; index < length; index += 1) {
    if (some.hashAt(index) !== other.hashAt(index)) {
      return false;
    }
  }
  return true;
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
    (known === null || lengthOf(known) >= length) &&
    stored?.length === length + added.length
  ) {
    extendList({ cache, stored, base: { known, version }, added });
  }
}
