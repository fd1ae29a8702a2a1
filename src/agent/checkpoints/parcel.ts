import type { BaseMessage } from "@langchain/core/messages";

import type {
  BodyInput,
  ListVersion,
  Parcel,
  Placed,
  SequenceInput,
} from "../../store/checkpoints/value.ts";
import { bodyText, hashOf } from "./body.ts";
import type { MessageHashes } from "./message-hashes.ts";
import { keepBody, keepList, type KnownBody, type ThreadCache } from "./thread-cache.ts";

/** Collects what the values of one write refer to, each body and each sequence once. */
export interface ParcelBuilder {
  /** Place of the message's body. */
  addMessage(message: BaseMessage): number;
  /** Place of a text that is to be kept once. */
  addText(text: string): number;
  /** Place of a sequence of messages. */
  addSequence(messages: readonly BaseMessage[]): number;
  /** Hashes of a sequence's messages, in order. */
  hashesOf(sequence: number): readonly string[];
  readonly parcel: Parcel;
  /** Takes note of what the committed write stored. */
  learn(placed: Placed): void;
}

export function createParcel(parts: {
  readonly cache: ThreadCache;
  readonly hashes: MessageHashes;
}): ParcelBuilder {
  const { cache, hashes } = parts;
  const bodies: BodyInput[] = [];
  const places = new Map<string, number>();
  const sequences: SequenceInput[] = [];
  const sequenceHashes: (readonly string[])[] = [];

  const addBody = (hash: string, text: () => string): number => {
    const place = places.get(hash);
    if (place !== undefined) {
      return place;
    }
    places.set(hash, bodies.length);
    return bodies.push({ hash, text: cache.ids.has(hash) ? null : text() }) - 1;
  };
  const addMessage = (message: BaseMessage): number =>
    addBody(hashes.hashOf(message), () => bodyText(message));

  return {
    parcel: { bodies, sequences },
    addMessage,
    addText: (text) => addBody(hashOf(text), () => text),
    addSequence: (messages) => {
      const own = messages.map((message) => hashes.hashOf(message));
      const same = sequenceHashes.findIndex(
        (other) => commonLength(own, other) === own.length && other.length === own.length,
      );
      if (same !== -1) {
        return same;
      }
      const known = longestKnown(cache, own);
      const rest = messages.slice(known?.length ?? 0).map(addMessage);
      sequenceHashes.push(own);
      return sequences.push({ known, rest }) - 1;
    },
    hashesOf: (sequence) => sequenceHashes[sequence] ?? [],
    learn: (placed) => {
      learnBodies(cache, bodies, placed);
      for (const [index, sequence] of sequences.entries()) {
        learnSequence({ cache, bodies, sequence, stored: placed.sequences[index] });
      }
    },
  };
}

/** The stored list that goes along with the sequence furthest. */
function longestKnown(cache: ThreadCache, hashes: readonly string[]): ListVersion | null {
  let best: ListVersion | null = null;
  for (const [list, items] of cache.lists) {
    const length = commonItems(hashes, items);
    if (length > 0 && length >= (best?.length ?? 0)) {
      best = { list, length };
    }
  }
  return best;
}

function commonItems(hashes: readonly string[], items: readonly KnownBody[]): number {
  const end = Math.min(hashes.length, items.length);
  let length = 0;
  while (length < end && hashes[length] === items[length]?.hash) {
    length += 1;
  }
  return length;
}

/** How many items two sequences have in common from the first on. */
export function commonLength(some: readonly string[], others: readonly string[]): number {
  const end = Math.min(some.length, others.length);
  let length = 0;
  while (length < end && some[length] === others[length]) {
    length += 1;
  }
  return length;
}

function learnBodies(cache: ThreadCache, bodies: readonly BodyInput[], placed: Placed): void {
  for (const [index, { hash, text }] of bodies.entries()) {
    const id = placed.bodies[index];
    if (id !== undefined && text !== null) {
      keepBody(cache, { id, hash, body: text });
    }
  }
}

function learnSequence(input: {
  cache: ThreadCache;
  bodies: readonly BodyInput[];
  sequence: SequenceInput;
  stored: ListVersion | undefined;
}): void {
  const { cache, bodies, sequence, stored } = input;
  const before =
    sequence.known === null
      ? []
      : (cache.lists.get(sequence.known.list)?.slice(0, sequence.known.length) ?? []);
  const rest = sequence.rest.flatMap((place) => {
    const id = cache.ids.get(bodies[place]?.hash ?? "");
    return id === undefined ? [] : (cache.bodies.get(id) ?? []);
  });
  const items = [...before, ...rest];
  if (stored !== undefined && items.length === stored.length) {
    keepList(cache, stored.list, items);
  }
}
