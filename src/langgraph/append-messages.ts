import { BaseMessage, RemoveMessage } from "@langchain/core/messages";
import { messagesStateReducer } from "@langchain/langgraph";

import { newId } from "../core/ids.ts";

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
  if (known === null || added === null) {
    return messagesStateReducer(left, right);
  }
  // not spread: that walks through the list, this copies it
  const messages = left.concat(added);
  const recent = [...known.recent, ...added.map(ensuredId)];
  return remember(messages, { stored: known.stored, recent, length: messages.length });
}

/**
 * Says of a list that every message has an id and that all of them are among `ids`, which may hold
 * others. So a list that is read again and again is not searched each time.
 */
export function noteIds(messages: object[], ids: ReadonlySet<string>): void {
  remember(messages, { stored: ids, recent: [], length: messages.length });
}

/** Ids of a list of messages, and maybe some more. */
interface KnownIds {
  readonly stored: ReadonlySet<string>;
  /** Those that were appended since: few, because each exchange begins with what is stored. */
  readonly recent: readonly string[];
  /** Of the list that was checked: one of another length was changed since. */
  readonly length: number;
}

/** On the list itself, invisible, and freed with the list. */
const IDS = Symbol("reprise.ids");

function remember<List extends object[]>(messages: List, ids: KnownIds): List {
  Reflect.defineProperty(messages, IDS, { value: ids, enumerable: false, configurable: true });
  return messages;
}

/** Null if something in the list is not a message or has no id yet. */
function idsOf(messages: BaseMessage[] & { readonly [IDS]?: KnownIds }): KnownIds | null {
  const known = messages[IDS];
  if (known?.length === messages.length) {
    return known;
  }
  const stored = new Set<string>();
  for (const message of messages) {
    if (!BaseMessage.isInstance(message) || message.id === undefined) {
      return null;
    }
    stored.add(message.id);
  }
  noteIds(messages, stored);
  return { stored, recent: [], length: messages.length };
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
    if (id === null || (id !== undefined && (ids.has(id) || has(known, id)))) {
      return null;
    }
    ids.add(id ?? "");
    messages.push(message);
  }
  return messages;
}

function has({ stored, recent }: KnownIds, id: string): boolean {
  return stored.has(id) || recent.includes(id);
}

function ensuredId(message: BaseMessage): string {
  if (message.id === undefined) {
    message.id = newId();
    message.lc_kwargs["id"] = message.id;
  }
  return message.id;
}
