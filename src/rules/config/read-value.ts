import type { Node } from "jsonc-parser";
import type { Static, TSchema } from "typebox";

import { isRepriseError } from "../../core/errors.ts";
import { adviceOf, createNearestName } from "../../core/text/nearest-name.ts";
import { parseMatch } from "../hooks/hook-match.ts";
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
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly items?: Form;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, Form>>;
  /** Members that must be there. */
  readonly required?: readonly string[];
  /** Members of which one at most may be there. */
  readonly exclusive?: readonly string[];
  readonly propertyNames?: { readonly pattern: string };
  /** What the keys are, if they have no fixed names: see `KEY_SENTENCES`. */
  readonly keys?: string;
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
        : readMap(node, form, report);
    case "array":
      return readList(node, form, report);
    case "integer":
      return readCount(node, form, report);
    case "number":
      return readNumber(node, form, report);
    case "boolean":
      return readFlag(node, report);
    case "string":
      return readText(node, form, report);
    default:
      return undefined;
  }
}

function readObject(node: Node, form: Form, report: Report): Readonly<Record<string, unknown>> {
  const { properties = {}, required = [], exclusive = [] } = form;
  const members = membersOf(node, report, Object.keys(properties));
  const found: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(properties)) {
    const value = members.get(name)?.value;
    const read = value === undefined ? undefined : readValue(value, member, report);
    if (read !== undefined) {
      found[name] = read;
    }
  }
  const missing = required.find((name) => !members.has(name));
  if (missing !== undefined && node.type === "object") {
    report(node, `This needs the key ${missing}.`);
  }
  const rivals = exclusive.flatMap((name) => members.get(name) ?? []);
  const [, second] = rivals;
  if (second !== undefined) {
    report(second.key, `Give one of ${exclusive.join(", ")}, not several.`);
  }
  return found;
}

function readMap(
  node: Node,
  { propertyNames, keys = "", additionalProperties }: Form,
  report: Report,
): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const form = typeof additionalProperties === "object" ? additionalProperties : {};
  for (const [written, { key, value }] of membersOf(node, report, null)) {
    if (new RegExp(propertyNames?.pattern ?? "").test(written)) {
      const read = readValue(value, form, report);
      if (read !== undefined) {
        found[written] = read;
      }
    } else {
      report(key, KEY_SENTENCES.get(keys) ?? "");
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

function readCount(
  node: Node,
  { minimum = 1, maximum = Infinity }: Form,
  report: Report,
): number | undefined {
  const value: unknown = node.value;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < minimum) {
    report(node, `This must be a whole number of ${minimum.toLocaleString("en")} or more.`);
    return undefined;
  }
  if (value > maximum) {
    report(node, `This must be ${maximum.toLocaleString("en")} or less.`);
    return undefined;
  }
  return value;
}

function readNumber(
  node: Node,
  { minimum = 0, maximum = Infinity }: Form,
  report: Report,
): number | undefined {
  const value: unknown = node.value;
  if (typeof value === "number" && value >= minimum && value <= maximum) {
    return value;
  }
  report(node, `This must be a number from ${minimum} to ${maximum.toLocaleString("en")}.`);
  return undefined;
}

function readFlag(node: Node, report: Report): boolean | undefined {
  const value: unknown = node.value;
  if (typeof value !== "boolean") {
    report(node, "This must be true or false.");
    return undefined;
  }
  return value;
}

/** Entries that cannot be used are left out. */
function readList(
  node: Node,
  { items = {}, minItems = 0, maxItems = MAX_ITEMS, uniqueItems = false }: Form,
  report: Report,
): unknown[] | undefined {
  if (node.type !== "array") {
    report(node, "This must be a list: [ … ].");
    return undefined;
  }
  const children = node.children ?? [];
  if (children.length > maxItems) {
    report(node, `This list has ${maxItems} entries at most.`);
    return undefined;
  }
  if (children.length < minItems) {
    report(node, "This list must not be empty.");
    return undefined;
  }
  const values = children.map(({ value }): unknown => value);
  const twice = children.find(({ value }, at) => values.indexOf(value) < at);
  if (uniqueItems && twice !== undefined) {
    report(twice, "This entry is there twice; remove one.");
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

/** For keys of another form. */
const KEY_SENTENCES: ReadonlyMap<string, string> = new Map([
  ["folder", "A folder is an absolute path, or one that begins with ~/."],
  [
    "provider",
    "The name of a provider has 1 to 32 lower-case letters, digits, - and _, and begins with a letter.",
  ],
  ["model", "Write a model as provider:model."],
  ["header", "The name of a header has 1 to 64 letters, digits and -."],
  ["variable", "This must be the exact name of a variable, such as JAVA_HOME."],
  [
    "server",
    "The name of a server has 1 to 32 letters, digits, - and single _, and begins with a letter.",
  ],
]);

/** For texts of a pattern that are of another form. */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ["path", "This must be an absolute path, or one that begins with ~/."],
  ["variable", "This must be the exact name of a variable, such as JAVA_HOME."],
  ["address", "This must be an address with its scheme, like http://127.0.0.1:8080/v1."],
  ["server_address", "This must be an address with its scheme, like https://mcp.example.com/mcp."],
  ["redacted", "This must begin with 3 characters or more that are no *, and have one * at most."],
  ["header", "The value of a header has visible ASCII characters and spaces only."],
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
  ["match", parseMatch],
  ["protected", (text) => isPath(text) || parsePattern(text)],
]);

/** True for an absolute path, or one that begins with `~/`. */
export function isPath(text: string): boolean {
  return /^(\/|~$|~\/)/.test(text);
}
