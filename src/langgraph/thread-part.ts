import type { ListVersion } from "../store/checkpoints/value.ts";

/**
 * Items of a stored list that come before a list of messages which is only the end of a thread's. What is stored of
 * it is then appended to those.
 */
export interface ThreadPart extends ListVersion {
  /** Lists of one family begin with the same items. */
  readonly family: object;
  /** From this position on the list may differ from others of its family. */
  readonly forked: number;
}

/** On the list itself, invisible, and freed with the list. */
const PART = Symbol("reprise.part");

/** Says of a list that it is the end of a thread's messages. */
export function markPart<List extends object>(messages: List, part: ThreadPart | null): List {
  if (part !== null) {
    Reflect.defineProperty(messages, PART, { value: part, enumerable: false });
  }
  return messages;
}

/** Null for a list that is all of a thread's messages. */
export function partOf(
  messages: readonly unknown[] & { readonly [PART]?: ThreadPart },
): ThreadPart | null {
  return messages[PART] ?? null;
}
