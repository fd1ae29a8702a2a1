import type { Node } from "jsonc-parser";
import type { Static, TSchema } from "typebox";

import { isRepriseError } from "../../core/errors.ts";
import { adviceOf, createNearestName } from "../../core/text/nearest-name.ts";
import { parseModelName } from "../models/name.ts";
import { parseCallPattern, parsePattern } from "../permissions/rule.ts";
import { BUILT_IN_TOOLS } from "../tools/built-in.ts";
import { MAX_ITEMS, MAX_TEXT } from "./schema.ts";

/** Called with what cannot be used, and a sentence about it. */
export type Report = (node: Pick<Node, "offset">, message: string) => void;

/** The parts of a schema that are read. */
export interface Form {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly maximum?: number;
  readonly pattern?: string;
  readonly items?: Form;
  readonly properties?: Readonly<Record<string, Form>>;
  /** At most 1: see `readObject`. */
  readonly maxProperties?: number;
  readonly propertyNames?: { readonly pattern: string };
  readonly additionalProperties?: boolean | Form;
  readonly reads?: string;
}

/** Reads a value by its schema. What cannot be used is reported and left out, so every member may be missing. */
export function readAs<Schema extends TSchema>(
  node: Node,
  schema: Schema,
  report: Report,
): Static<Schema> {
  const form: TSchema = schema;
  return readValue(node, form, report) as Static<Schema>;
}

/** Undefined for what cannot be used. */
function readValue(node: Node, form: Form, report: Report): unknown {
  if (form.enum !== undefined) {
    return readWord(node, form.enum, report);
  }
  switch (form.type) {
    case "object":
      return form.propertyNames === undefined
        ? readObject(node, form, report)
        : readFolders(node, form, report);
    case "array":
      return readList(node, form, report);
    case "integer":
      return readCount(node, form, report);
    case "string":
      return readText(node, form, report);
    default:
      return undefined;
  }
}

function readObject(node: Node, form: Form, report: Report): Readonly<Record<string, unknown>> {
  const { properties = {}, maxProperties } = form;
  const members = membersOf(node, report, Object.keys(properties));
  const found: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(properties)) {
    const value = members.get(name)?.value;
    const read = value === undefined ? undefined : readValue(value, member, report);
    if (read !== undefined) {
      found[name] = read;
    }
  }
  const command = members.get("key_command")?.key;
  const isEmpty = Array.isArray(found["key_command"]) && found["key_command"].length === 0;
  if (maxProperties === 1 && command !== undefined && (members.size > 1 || isEmpty)) {
    report(command, "Give either key_file or a key_command that is not empty.");
  }
  return found;
}

function readFolders(
  node: Node,
  { propertyNames, additionalProperties }: Form,
  report: Report,
): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const section = typeof additionalProperties === "object" ? additionalProperties : {};
  for (const [written, { key, value }] of membersOf(node, report, null)) {
    if (new RegExp(propertyNames?.pattern ?? "").test(written)) {
      found[written] = readValue(value, section, report);
    } else {
      report(key, "A folder is an absolute path, or one that begins with ~/.");
    }
  }
  return found;
}

interface Member {
  /** The key, for reports. */
  readonly key: Node;
  readonly value: Node;
}

/**
 * The members of an object by their keys, the first of each. With `known`, another key is reported. Keys are
 * in a map, where `__proto__` is a key like any other.
 */
function membersOf(
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

function readWord(node: Node, words: readonly unknown[], report: Report): unknown {
  if (words.includes(node.value)) {
    return node.value;
  }
  report(node, `This must be one of ${words.map((word) => `"${String(word)}"`).join(", ")}.`);
  return undefined;
}

function readCount(node: Node, { maximum = Infinity }: Form, report: Report): number | undefined {
  const value: unknown = node.value;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1) {
    report(node, "This must be a whole number of 1 or more.");
    return undefined;
  }
  if (value > maximum) {
    report(node, `This must be ${maximum.toLocaleString("en")} or less.`);
    return undefined;
  }
  return value;
}

/** Entries that cannot be used are left out. */
function readList(node: Node, { items = {} }: Form, report: Report): unknown[] | undefined {
  if (node.type !== "array") {
    report(node, "This must be a list: [ … ].");
    return undefined;
  }
  const children = node.children ?? [];
  if (children.length > MAX_ITEMS) {
    report(node, `A list has ${MAX_ITEMS} entries at most.`);
    return undefined;
  }
  return children
    .map((child) => readValue(child, items, report))
    .filter((item) => item !== undefined);
}

function readText(node: Node, form: Form, report: Report): string | undefined {
  if (typeof node.value !== "string" || node.type !== "string") {
    report(node, "This must be a text in double quotes.");
    return undefined;
  }
  const text: string = node.value;
  if (text.trim() === "" || text.length > MAX_TEXT || text.includes("\0")) {
    report(node, `A text here has 1 to ${MAX_TEXT} characters, without NUL.`);
    return undefined;
  }
  const problem = problemOf(text, form);
  if (problem !== null) {
    report(node, problem);
    return undefined;
  }
  return text;
}

function problemOf(text: string, { pattern, reads = "" }: Form): string | null {
  if (pattern !== undefined) {
    return new RegExp(pattern).test(text) ? null : (SENTENCES.get(reads) ?? null);
  }
  try {
    CHECKS.get(reads)?.(text);
    return null;
  } catch (error) {
    if (isRepriseError(error)) {
      return error.message;
    }
    throw error;
  }
}

/** For texts of a pattern that are of another form. */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ["path", "This must be an absolute path, or one that begins with ~/."],
  ["variable", "This must be the exact name of a variable, such as JAVA_HOME."],
  [
    "below_home",
    "This must be a path below your home folder, such as ~/.config/tool, without . and ..",
  ],
]);

/** Each throws a sentence about what cannot be used. */
const CHECKS: ReadonlyMap<string, (text: string) => unknown> = new Map<
  string,
  (text: string) => unknown
>([
  ["model", parseModelName],
  ["rule", (text) => parseCallPattern(text, BUILT_IN_TOOLS)],
  ["pattern", parsePattern],
  ["protected", (text) => isPath(text) || parsePattern(text)],
]);

/** True for an absolute path, or one that begins with `~/`. */
export function isPath(text: string): boolean {
  return /^(\/|~$|~\/)/.test(text);
}
