import { BaseMessage } from "@langchain/core/messages";

/**
 * Says of a list that every message has an id and that all of them are among `ids`, which may hold
 * others. So a list that is read again and again is not searched each time.
 */
export function noteIds(messages: object[], ids: ReadonlySet<string>): void {
  rememberIds(messages, { stored: ids, recent: [], length: messages.length });
}

/** Ids of a list of messages, and maybe some more. */
export interface KnownIds {
  readonly stored: ReadonlySet<string>;
  /** Ids that were appended since: few, because each exchange begins with what is stored. */
  readonly recent: readonly string[];
  /** Length of the list that was checked: one of another length was changed since. */
  readonly length: number;
}

/** On the list itself, invisible, and freed with the list. */
const IDS = Symbol("reprise.ids");

/** Puts the ids on their list. */
export function rememberIds<List extends object[]>(messages: List, ids: KnownIds): List {
  Reflect.defineProperty(messages, IDS, { value: ids, enumerable: false, configurable: true });
  return messages;
}

/** Null if something in the list is not a message or has no id yet. */
export function idsOf(messages: BaseMessage[] & { readonly [IDS]?: KnownIds }): KnownIds | null {
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

/** True if one of the messages has the id. */
export function hasId({ stored, recent }: KnownIds, id: string): boolean {
  return stored.has(id) || recent.includes(id);
}
