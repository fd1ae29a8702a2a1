import type { BaseMessage } from "@langchain/core/messages";

import { noteIds } from "./known-ids.ts";
import { copierOf } from "./messages/copy-message.ts";
import { firstShown, isSummary } from "../store/records/messages/summary.ts";
import type { ListVersion } from "../store/checkpoints/value.ts";
import { markPart, type ThreadPart } from "./thread-part.ts";
import { fingerprintOf } from "./messages/message-hash.ts";
import {
  addWeight,
  itemsBetween,
  type KnownBody,
  type KnownList,
  reviveOf,
  type ThreadCache,
  weightOf,
} from "./thread-cache.ts";

type Made = BaseMessage | Promise<BaseMessage>;
type Arriving = BaseMessage[] | Promise<BaseMessage[]>;

/** A message that nobody else has. Its fingerprint makes it cheap to see that it is put back unchanged. */
export function copyMessage(body: KnownBody): Made {
  if (body.copy !== null && body.fingerprint !== null) {
    return body.copy(body.fingerprint);
  }
  const message = reviveOf(body)();
  if (message instanceof Promise || body.fingerprint !== null) {
    return message;
  }
  body.fingerprint = fingerprintOf(message, body.hash);
  const copy = body.fingerprint === null ? null : copierOf(message, body.fingerprint);
  if (body.fingerprint === null || copy === null) {
    return message;
  }
  // copies have their fields in another order than what the constructor made
  const copied = copy(body.fingerprint);
  body.fingerprint = fingerprintOf(copied, body.hash);
  body.copy = copy;
  body.revive = null;
  return copied;
}

/** The message that all exchanges share: frozen, so that it stays what is stored. */
export function sharedMessage(cache: ThreadCache, body: KnownBody): Made {
  if (body.shared !== null) {
    return body.shared;
  }
  const message = copyMessage(body);
  if (message instanceof Promise || body.fingerprint === null || message.id === undefined) {
    return message;
  }
  frozen(message);
  body.shared = message;
  addWeight(cache, weightOf(body) - body.text.length);
  return message;
}

/**
 * The first messages of a list, shared; only the array belongs to the reader. `isShownOnly` leaves
 * out those before the first one that the model is shown.
 */
export function sharedMessages(
  cache: ThreadCache,
  list: KnownList,
  version: ListVersion & { readonly isShownOnly: boolean },
): Arriving {
  const known = version.length - list.first;
  for (const body of list.items.slice(list.shared.length, known)) {
    void sharedMessage(cache, body);
    if (body.shared?.id === undefined) {
      const made = arrived(list.items.slice(0, known).map((each) => sharedMessage(cache, each)));
      const part = partFrom(list, { ...version, length: list.first });
      return made instanceof Promise
        ? made.then((messages) => markPart(messages, part))
        : markPart(made, part);
    }
    list.shared.push(body.shared);
    list.ids.add(body.shared.id);
  }
  const from = version.isShownOnly ? shownFrom(list, known) : 0;
  const messages = list.shared.slice(from, known);
  noteIds(messages, list.ids);
  return markPart(messages, partFrom(list, { ...version, length: list.first + from }));
}

/** An index of the shared messages; those that were searched before are not searched again. */
function shownFrom(list: KnownList, length: number): number {
  const { shared, shown } = list;
  if (
    shown === null ||
    shown.length > length ||
    shared.slice(shown.length, length).some(isSummary)
  ) {
    const read = { length, mayHold: () => true, at: (index: number) => shared[index] };
    list.shown = { length, from: firstShown(read) ?? 0 };
  } else {
    list.shown = { length, from: shown.from };
  }
  return list.shown.from;
}

/** Null for a part that begins with the first item of the list. */
function partFrom({ family, forked }: KnownList, { list, length }: ListVersion): ThreadPart | null {
  return length === 0 ? null : { list, length, family, forked };
}

/** The first messages of a list, each created again. */
export function copyMessages(list: KnownList, length: number): Arriving {
  return arrived(itemsBetween(list, 0, length).map(copyMessage));
}

/** Messages of most classes are made at once: only the others are waited for. */
function arrived(made: Made[]): Arriving {
  return made.every((message): message is BaseMessage => !(message instanceof Promise))
    ? made
    : Promise.all(made.map((each) => Promise.resolve(each)));
}

/** Freezes a value and all that it consists of, which is plain: a message that is not is never shared. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const key of Object.keys(value)) {
      frozen(Reflect.get(value, key));
    }
  }
  return value;
}
