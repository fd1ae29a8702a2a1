import type { BaseMessage } from "@langchain/core/messages";

import { noteIds } from "./known-ids.ts";
import { copierOf } from "./copy-message.ts";
import { fingerprintOf } from "./message-hash.ts";
import {
  addWeight,
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
  freeze(message);
  body.shared = message;
  addWeight(cache, weightOf(body) - body.text.length);
  return message;
}

/** The first messages of a list, shared; only the array belongs to the reader. */
export function sharedMessages(cache: ThreadCache, list: KnownList, length: number): Arriving {
  for (const body of list.items.slice(list.shared.length, length)) {
    void sharedMessage(cache, body);
    if (body.shared?.id === undefined) {
      return arrived(list.items.slice(0, length).map((each) => sharedMessage(cache, each)));
    }
    list.shared.push(body.shared);
    list.ids.add(body.shared.id);
  }
  const messages = list.shared.slice(0, length);
  noteIds(messages, list.ids);
  return messages;
}

/** The first messages of a list, each created again. */
export function copyMessages(list: KnownList, length: number): Arriving {
  return arrived(list.items.slice(0, length).map(copyMessage));
}

/** Messages of most classes are made at once: only the others are waited for. */
function arrived(made: Made[]): Arriving {
  return made.every((message): message is BaseMessage => !(message instanceof Promise))
    ? made
    : Promise.all(made.map((each) => Promise.resolve(each)));
}

/** All that a message consists of is plain, or it would not be shared. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) {
    return;
  }
  Object.freeze(value);
  for (const key of Object.keys(value)) {
    freeze(Reflect.get(value, key));
  }
}
