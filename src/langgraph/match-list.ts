import { BaseMessage } from "@langchain/core/messages";

import type { ListVersion } from "../store/checkpoints/value.ts";
import { hasFingerprint, messageHash } from "./messages/message-hash.ts";
import {
  itemsBetween,
  type KnownBody,
  type KnownList,
  lengthOf,
  type ThreadCache,
} from "./thread-cache.ts";
import type { ThreadPart } from "./thread-part.ts";

/** The first items of a list that is known to be stored. */
export interface Match extends ListVersion {
  /** The list's items from `start` on, where the values begin. */
  readonly items: readonly KnownBody[];
  readonly start: number;
}

/**
 * The stored list that matches the longest part of the values, from the first one on. If they are only
 * the end of a thread's messages, the items before them match already.
 */
export function longestMatch(
  cache: ThreadCache,
  values: readonly unknown[],
  part: ThreadPart | null,
): Match | null {
  const start = part?.length ?? 0;
  let best: Match | null = part === null ? null : { ...part, start, items: [] };
  // the one used last first: it nearly always matches, and shorter ones are not compared then
  for (const [list, known] of [...cache.lists].reverse()) {
    if (known.first <= start && (part === null || beginsAs(part, list, known))) {
      const rest = part === null ? known : restOf(known, start);
      const length = matchLength(values, rest, { best, cache });
      if (length > lengthIn(best)) {
        best = { list, length: start + length, items: rest.items, start };
      }
    }
  }
  return best;
}

type Rest = Pick<KnownList, "items" | "shared">;

function restOf(known: KnownList, start: number): Rest {
  const items = itemsBetween(known, start, lengthOf(known));
  return { items, shared: known.shared.slice(start - known.first) };
}

/** How many of the values match. */
function lengthIn(match: Match | null): number {
  return match === null ? 0 : match.length - match.start;
}

/** True if the list has the items before the part. */
function beginsAs(part: ThreadPart, list: number, { family, forked }: KnownList): boolean {
  return (
    list === part.list || (family === part.family && part.length <= Math.min(forked, part.forked))
  );
}

interface Matching {
  readonly best: Match | null;
  readonly cache: ThreadCache;
}

/** At most the length of the best match if the list cannot match more. */
function matchLength(
  values: readonly unknown[],
  { items, shared }: Rest,
  { best, cache }: Matching,
): number {
  const end = Math.min(values.length, items.length);
  const matched = lengthIn(best);
  if (end <= matched) {
    return 0;
  }
  let length = 0;
  while (length < matched && items[length] === best?.items[length]) {
    length += 1;
  }
  if (length < matched) {
    return length;
  }
  // frozen messages are compared by identity
  while (
    length < end &&
    (shared[length] === values[length] || isBody(items[length], values[length], cache))
  ) {
    length += 1;
  }
  return length;
}

function isBody(body: KnownBody | undefined, value: unknown, cache: ThreadCache): boolean {
  const fingerprint = body?.fingerprint ?? null;
  return (
    (fingerprint !== null && hasFingerprint(value, fingerprint)) ||
    (BaseMessage.isInstance(value) && messageHash(value, cache.fingerprints) === body?.hash)
  );
}

/** Fewer messages are hashed sooner than searched for. */
const SEARCHED_LENGTH = 8;
/** Lists that are longer than this many times the messages are not searched. */
const SEARCHED_TIMES = 4;

/**
 * The hashes of messages that follow a match. Messages that were read and are at another position
 * now, because some before them were removed, are found in the lists by their ids.
 */
export function hashesOf(cache: ThreadCache, messages: readonly BaseMessage[]): string[] {
  const hashes = new Map<BaseMessage, string>();
  for (const { items } of [...cache.lists.values()].reverse()) {
    if (messages.length - hashes.size < SEARCHED_LENGTH) {
      break;
    }
    if (items.length <= SEARCHED_TIMES * messages.length) {
      findHashes(items, messages, hashes);
    }
  }
  return messages.map((message) => hashes.get(message) ?? messageHash(message, cache.fingerprints));
}

function findHashes(
  items: readonly KnownBody[],
  messages: readonly BaseMessage[],
  hashes: Map<BaseMessage, string>,
): void {
  const byId = new Map(items.map((body) => [body.fingerprint?.id, body.fingerprint] as const));
  for (const message of messages) {
    const fingerprint = byId.get(message.id);
    if (fingerprint && hasFingerprint(message, fingerprint)) {
      hashes.set(message, fingerprint.hash);
    }
  }
}
