import type { BaseMessage } from "@langchain/core/messages";

import {
  at,
  type BodyInput,
  type ListVersion,
  type Parcel,
  type Placed,
  type SequenceInput,
} from "../../store/checkpoints/value.ts";
import { bodyText, hashOf } from "./body.ts";
import { messageHash } from "./message-hash.ts";
import { extendList, keepBody, type KnownBody, type ThreadCache } from "./thread-cache.ts";

/** Collects what the values of one write refer to, each body and each sequence once. */
export interface ParcelBuilder {
  /** Place of the message's body. */
  addMessage(message: BaseMessage): number;
  /** Place of a text that is to be kept once. */
  addText(text: string): number;
  /** Place of a sequence of messages. */
  addSequence(messages: readonly BaseMessage[]): number;
  /** A sequence as it was added, with the hashes of all its messages. */
  sequenceAt(place: number): AddedSequence;
  readonly parcel: Parcel;
  /** Takes note of what the committed write stored. */
  learn(placed: Placed): void;
}

export interface AddedSequence {
  readonly hashes: readonly string[];
  /** How far it goes along with a list that is known to be stored. */
  readonly known: ListVersion | null;
}

export function createParcel(cache: ThreadCache): ParcelBuilder {
  const bodies: BodyInput[] = [];
  const places = new Map<string, number>();
  const sequences: SequenceInput[] = [];
  const added: AddedSequence[] = [];

  const addBody = (hash: string, text: () => string): number => {
    const place = places.get(hash);
    if (place !== undefined) {
      return place;
    }
    places.set(hash, bodies.length);
    return bodies.push({ hash, text: cache.ids.has(hash) ? null : text() }) - 1;
  };
  const addMessage = (message: BaseMessage): number =>
    addBody(messageHash(message), () => bodyText(message));

  return {
    parcel: { bodies, sequences },
    addMessage,
    addText: (text) => addBody(hashOf(text), () => text),
    addSequence: (messages) => {
      const hashes = messages.map(messageHash);
      const same = added.findIndex((other) => sameHashes(hashes, other.hashes));
      if (same !== -1) {
        return same;
      }
      const known = longestKnown(cache, hashes);
      const rest = messages.slice(known?.length ?? 0).map(addMessage);
      added.push({ hashes, known });
      return sequences.push({ known, rest }) - 1;
    },
    sequenceAt: (place) => at(added, place),
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

function sameHashes(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && commonLength(some, others) === some.length;
}

/** How many items two sequences have in common from the first on. */
function commonLength(some: readonly string[], others: readonly string[]): number {
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
  const { known: version } = sequence;
  const items = version === null ? [] : cache.lists.get(version.list);
  const added = sequence.rest.flatMap((place) => {
    const id = cache.ids.get(bodies[place]?.hash ?? "");
    return id === undefined ? [] : (cache.bodies.get(id) ?? []);
  });
  if (
    items !== undefined &&
    items.length >= (version?.length ?? 0) &&
    stored?.length === (version?.length ?? 0) + added.length
  ) {
    extendList({ cache, stored, base: { items, version }, added });
  }
}
