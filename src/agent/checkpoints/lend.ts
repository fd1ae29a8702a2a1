import type { BaseMessage } from "@langchain/core/messages";

import { noteIds } from "../append-messages.ts";
import { notePrint, printOf } from "./message-hash.ts";
import {
  type KnownBody,
  type KnownList,
  reviveOf,
  type ThreadCache,
  weightOf,
} from "./thread-cache.ts";

type Made = BaseMessage | Promise<BaseMessage>;

/** A message that nobody else has, watched so that putting it back costs nothing. */
export function freshMessage(body: KnownBody): Made {
  const message = reviveOf(body)();
  if (message instanceof Promise) {
    return message;
  }
  body.print ??= printOf(message, body.hash);
  if (body.print !== null) {
    notePrint(message, body.print);
  }
  return message;
}

/** The message that every exchange is lent: frozen, so that it stays what is stored. */
export function lentMessage(cache: ThreadCache, body: KnownBody): Made {
  if (body.lent !== null) {
    return body.lent;
  }
  const message = freshMessage(body);
  if (message instanceof Promise || body.print === null || message.id === undefined) {
    return message;
  }
  freeze(message);
  body.lent = message;
  cache.weight += weightOf(body) - body.text.length;
  return message;
}

/** The first messages of a list as they are lent; only the array belongs to the reader. */
export function lentMessages(cache: ThreadCache, list: KnownList, length: number): Made[] {
  for (const body of list.items.slice(list.lent.length, length)) {
    void lentMessage(cache, body);
    list.lent.push(body.lent ?? undefined);
    list.ids.add(body.lent?.id ?? "");
  }
  const lent = list.lent.slice(0, length);
  if (lent.every((message) => message !== undefined)) {
    noteIds(lent, list.ids);
    return lent;
  }
  return list.items.slice(0, length).map((body) => lentMessage(cache, body));
}

/** All that a message consists of is plain, or it would not be lent. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) {
    return;
  }
  Object.freeze(value);
  for (const key of Object.keys(value)) {
    freeze(Reflect.get(value, key));
  }
}
