import type { Node } from "jsonc-parser";

import { isRepriseError } from "../../core/errors.ts";
import { adviceOf, createNearestName } from "../../core/nearest-name.ts";

/** Called with what cannot be used, and a sentence about it. */
export type Report = (node: Pick<Node, "offset">, message: string) => void;

/** Reads a value; null if it cannot be used, which is reported. */
export type Reader<Value> = (node: Node, report: Report) => Value | null;

export interface Member {
  /** The key, for reports. */
  readonly key: Node;
  readonly value: Node;
}

/**
 * The members of an object by their keys, the first of each. With `known`, another key is reported. Keys are
 * in a map, where `__proto__` is a key like any other.
 */
export function membersOf(
  node: Node,
  report: Report,
  known: readonly string[] | null,
): ReadonlyMap<string, Member> {
  const found = new Map<string, Member>();
  if (node.type !== "object") {
    report(node, "This must be an object: { … }.");
    return found;
  }
  const nearest = createNearestName(known ?? []);
  for (const { children: [key, value] = [] } of node.children ?? []) {
    if (key === undefined || value === undefined || typeof key.value !== "string") {
      continue;
    }
    const name: string = key.value;
    if (found.has(name)) {
      report(key, "This key is there twice; remove one.");
    } else if (known !== null && !known.includes(name)) {
      const { advice } = adviceOf(nearest(name), `the keys are ${known.join(", ")}`);
      report(key, `There is no such key here; ${advice}${advice.endsWith("?") ? "" : "."}`);
    } else {
      found.set(name, { key, value });
    }
  }
  return found;
}

/** The value of a member; null if it is not there or cannot be used. */
export function readMember<Value>(
  members: ReadonlyMap<string, Member>,
  name: string,
  reader: Reader<Value>,
  report: Report,
): Value | null {
  const member = members.get(name);
  return member === undefined ? null : reader(member.value, report);
}

/** Characters of a text. */
const MAX_TEXT = 4096;
const MAX_ITEMS = 1000;

/** A text that is not empty. `check` throws what cannot be used, or returns what is meant by it. */
export function textReader<Value = string>(check: (text: string) => Value): Reader<Value> {
  return (node, report) => {
    if (typeof node.value !== "string" || node.type !== "string") {
      report(node, "This must be a text in double quotes.");
      return null;
    }
    const text: string = node.value;
    if (text.trim() === "" || text.length > MAX_TEXT || text.includes("\0")) {
      report(node, `A text here has 1 to ${MAX_TEXT} characters, without NUL.`);
      return null;
    }
    try {
      return check(text);
    } catch (error) {
      if (!isRepriseError(error)) {
        throw error;
      }
      report(node, error.message);
      return null;
    }
  };
}

/** One of these words. */
export function wordReader<Word extends string>(words: readonly Word[]): Reader<Word> {
  return (node, report) => {
    const found = words.find((word) => word === node.value);
    if (found === undefined) {
      report(node, `This must be one of ${words.map((word) => `"${word}"`).join(", ")}.`);
    }
    return found ?? null;
  };
}

/** A whole number of 1 or more. */
export const readCount: Reader<number> = (node, report) => {
  if (typeof node.value === "number" && Number.isSafeInteger(node.value) && node.value >= 1) {
    return node.value;
  }
  report(node, "This must be a whole number of 1 or more.");
  return null;
};

/** A list; entries that cannot be used are reported and left out. */
export function listReader<Value>(reader: Reader<Value>): Reader<readonly Value[]> {
  return (node, report) => {
    if (node.type !== "array") {
      report(node, "This must be a list: [ … ].");
      return null;
    }
    const items = node.children ?? [];
    if (items.length > MAX_ITEMS) {
      report(node, `A list has ${MAX_ITEMS} entries at most.`);
      return null;
    }
    return items.flatMap((item) => reader(item, report) ?? []);
  };
}
