import { BaseMessage } from "@langchain/core/messages";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";

import { bodyText } from "../../langgraph/messages/message-codec.ts";

/**
 * True if two values are the same to a graph. The order of an object's members does not count, and a
 * message of the source without an id is the same as one that was given an id when it was stored.
 */
export function isSameValue(source: unknown, stored: unknown): boolean {
  if (typeof source !== "object" || source === null) {
    return source === stored;
  }
  if (typeof stored !== "object" || stored === null) {
    return false;
  }
  if (source === stored) {
    return true;
  }
  if (BaseMessage.isInstance(source)) {
    return BaseMessage.isInstance(stored) && isSameMessage(source, stored);
  }
  if (Object.getPrototypeOf(source) !== Object.getPrototypeOf(stored)) {
    return false;
  }
  const [one, other] = [contentOf(source), contentOf(stored)];
  return Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((each, index) => isSameValue(each, other[index]))
    : isSameRecord(one, other);
}

function isSameMessage(source: BaseMessage, stored: BaseMessage): boolean {
  if (typeof source.id !== "string" && stored.id !== undefined) {
    source.id = stored.id;
  }
  return bodyText(source) === bodyText(stored);
}

/** Returns what an object of a class that a checkpoint may hold consists of. */
function contentOf(value: object): object {
  if (value instanceof Map || value instanceof Set || value instanceof Uint8Array) {
    return [...value];
  }
  if (value instanceof RegExp) {
    return [value.source, value.flags];
  }
  if (value instanceof Error) {
    return [value.message];
  }
  if (value instanceof DeltaSnapshot) {
    return [value.value];
  }
  // objects that LangChain serializes itself, such as a document
  return "toJSON" in value && typeof value.toJSON === "function"
    ? [JSON.parse(JSON.stringify(value))]
    : value;
}

function isSameRecord(source: object, stored: object): boolean {
  const keys = Object.keys(source);
  return (
    keys.length === Object.keys(stored).length &&
    keys.every(
      (key) =>
        Object.hasOwn(stored, key) &&
        isSameValue(Reflect.get(source, key), Reflect.get(stored, key)),
    )
  );
}
