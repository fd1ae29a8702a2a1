import { BaseMessage, RemoveMessage } from "@langchain/core/messages";
import { messagesStateReducer, REMOVE_ALL_MESSAGES } from "@langchain/langgraph";

import { newId } from "../core/ids.ts";
import { hasId, idsOf, type KnownIds, rememberIds } from "./known-ids.ts";
import { markPart, partOf } from "./thread-part.ts";

type Right = Parameters<typeof messagesStateReducer>[1];

/**
 * LangGraph's reducer of messages, `messagesStateReducer`, for long threads: it returns the same,
 * but if all that comes is new it appends without visiting each known message, and every
 * step of an exchange brings something new. Whatever else may come is left to LangGraph's own.
 *
 * The ids of a list are remembered on it. Code that changes the id of a message in a list that it got
 * from here has to make a new list.
 */
export function appendMessages(left: BaseMessage[], right: Right): BaseMessage[] {
  const known = Array.isArray(left) ? idsOf(left) : null;
  const added = known === null ? null : newMessages(right, known);
  const part = Array.isArray(left) ? partOf(left) : null;
  if (known === null || added === null) {
    const merged = messagesStateReducer(left, right);
    return removesAll(right) ? merged : markPart(merged, part);
  }
  // not spread: that walks through the list, this copies it
  const messages = left.concat(added);
  const recent = [...known.recent, ...added.map(ensuredId)];
  rememberIds(messages, { stored: known.stored, recent, length: messages.length });
  return markPart(messages, part);
}

function removesAll(right: Right): boolean {
  const given: readonly unknown[] = Array.isArray(right) ? right : [right];
  return given.some((one) => RemoveMessage.isInstance(one) && one.id === REMOVE_ALL_MESSAGES);
}

/** Null unless each is a message whose id, if it has one, is neither in the list nor twice. */
function newMessages(right: Right, known: KnownIds): BaseMessage[] | null {
  const given: readonly unknown[] = Array.isArray(right) ? right : [right];
  const ids = new Set<string>();
  const messages: BaseMessage[] = [];
  for (const message of given) {
    if (!BaseMessage.isInstance(message) || RemoveMessage.isInstance(message)) {
      return null;
    }
    const { id } = message;
    if (id === null || (id !== undefined && (ids.has(id) || hasId(known, id)))) {
      return null;
    }
    ids.add(id ?? "");
    messages.push(message);
  }
  return messages;
}

function ensuredId(message: BaseMessage): string {
  if (message.id === undefined) {
    message.id = newId();
    message.lc_kwargs["id"] = message.id;
  }
  return message.id;
}
