import type { Fault } from "../../core/errors.ts";
import { isDamage } from "../checkpoints/damage.ts";
import { joinTemplate } from "../checkpoints/template.ts";
import {
  at,
  storedChannels,
  storedValue,
  type StoredValue,
  storedWrite,
} from "../checkpoints/value.ts";
import { isWhole, type Referred } from "../checkpoints/whole-value.ts";
import type { FreeThread, PortableList } from "./portable-threads.ts";

/**
 * The first checkpoint or write of a thread that cannot be read, although all that it refers to is
 * there; null if there is none.
 */
export function unreadableIn(thread: FreeThread): Fault | null {
  const isReadable = readerOf(thread);
  for (const [index, checkpoint] of thread.checkpoints.entries()) {
    const reads = succeeds(() => {
      const { shape, versions, channels, metadata } = checkpoint;
      const { untouched } = joinTemplate({ shape: at(thread.bodies, shape), numbers: versions });
      isReadable([
        ...Object.values(untouched).map((json): StoredValue => [json]),
        ...Object.values(storedChannels(channels)),
        storedValue(metadata),
      ]);
    });
    if (!reads) {
      const message = "Must have versions that fit its shape, and values that can be read.";
      return { pointer: `/checkpoints/${index}`, message };
    }
  }
  for (const [index, { writes }] of thread.writes.entries()) {
    if (!succeeds(() => isReadable(writes.map((write) => storedWrite(write)[2])))) {
      return { pointer: `/writes/${index}`, message: "Must have values that can be read." };
    }
  }
  return null;
}

/** Throws an error that `isDamage` accepts for a value that cannot be read. */
function readerOf({ bodies, lists }: FreeThread): (values: readonly StoredValue[]) => void {
  const messages = new Map<number, boolean>();
  const isMessage = (body: number): boolean => {
    const known = messages.get(body) ?? isMessageBody(at(bodies, body));
    messages.set(body, known);
    return known;
  };
  const areItems = lists.map(({ items }: PortableList) => items.every(isMessage));
  const areMessages = (list: number, length: number): boolean => {
    const { base, base_length, items } = at(lists, list);
    const isBased = base === null || areMessages(base, Math.min(length, base_length));
    const own = Math.max(0, length - base_length);
    return isBased && (areItems[list] === true || items.slice(0, own).every(isMessage));
  };
  const referred: Referred = { text: (body) => at(bodies, body), isMessage, areMessages };
  // most checkpoints hold the same large values as the one before
  const known = new Set<string>();
  return (values) => {
    for (const value of values) {
      const key = JSON.stringify(value);
      if (!known.has(key) && !isWhole(value, referred)) {
        throw new RangeError("a value refers to something that is not a message");
      }
      known.add(key);
    }
  };
}

/** `[class, fields]`; what LangChain makes of it is for the graph to find out. */
function isMessageBody(text: string): boolean {
  return /^\[["[]/.test(text) && succeeds(() => JSON.parse(text));
}

export function succeeds(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (isDamage(error)) {
      return false;
    }
    throw error;
  }
}
