import type { FindingCode } from "../../core/schemas/artifact-schemas.ts";
import { type Finding, textError } from "../finding.ts";
import type { LineIndex } from "../line-index.ts";

/** A value in an artifact's text with its place; `start` is an offset in UTF-16 code units. */
export type SourceNode = ObjectNode | ArrayNode | ScalarNode;

export interface ObjectNode {
  readonly kind: "object";
  readonly start: number;
  /** By name; of a name given twice the last one counts, as in JSON.parse. */
  readonly members: Map<string, Member>;
}

export interface ArrayNode {
  readonly kind: "array";
  readonly start: number;
  readonly items: SourceNode[];
}

interface ScalarNode {
  readonly kind: "scalar";
  readonly start: number;
  readonly value: string | number | boolean | null;
}

export interface Member {
  readonly keyStart: number;
  readonly value: SourceNode;
}

/**
 * An artifact's text, read. `root` is null when the text cannot be read at all; `findings` then
 * says why, otherwise it holds what the text has wrong and a reader would not notice.
 */
export interface ParsedSource {
  readonly root: SourceNode | null;
  readonly findings: readonly Finding[];
}

/** Objects and arrays inside each other, at most: so walking a tree may recurse. */
export const MAX_SOURCE_DEPTH = 64;

/** How much one text may hold, which bounds the memory and the time that validating it takes. */
export interface SizeLimits {
  /** Objects, arrays, strings, numbers and the like. */
  readonly values: number;
  /** Words, signs, spaces and line ends of YAML: its parser keeps each until the document ends. */
  readonly lexemes: number;
}

/** For files: the most of either takes about two seconds, a million lexemes about 400 MB. */
export const FILE_LIMITS: SizeLimits = { values: 2_000_000, lexemes: 1_000_000 };

/** A text without the byte order mark that some editors begin it with: it is not a column. */
export function withoutMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** Ends the reading of a text at its first error, which is at `offset`. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly code: FindingCode;
  readonly offset: number;

  constructor(code: FindingCode, offset: number, message: string) {
    super(message);
    this.code = code;
    this.offset = offset;
  }
}

/** Runs a reader and turns the SourceError it may throw into the only finding. */
export function stopAtError(lines: LineIndex, read: () => ParsedSource): ParsedSource {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SourceError)) {
      throw error;
    }
    return { root: null, findings: [textError(error.code, error.message, lines(error.offset))] };
  }
}

export function tooDeep(offset: number): SourceError {
  const message = `objects and arrays are nested more than ${MAX_SOURCE_DEPTH} deep here; flatten the document`;
  return new SourceError("too_deep", offset, message);
}

/** Value that a JSON document can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [name: string]: JsonValue };

/** The plain value of a tree. A property named `__proto__` stays an ordinary property. */
export function toValue(node: SourceNode): JsonValue {
  if (node.kind === "scalar") {
    return node.value;
  }
  if (node.kind === "array") {
    return node.items.map(toValue);
  }
  const members = Array.from(node.members, ([name, { value }]) => [name, toValue(value)]);
  return Object.fromEntries(members);
}

/**
 * The node that a JSON pointer names, and the offset of the property name that leads to it (of the
 * node itself if it is not a property); undefined if the tree has no such node.
 */
export function findPosition(root: SourceNode, pointer: string): Member | undefined {
  let found: Member | undefined = { keyStart: root.start, value: root };
  for (const step of pointer.split("/").slice(1)) {
    found = found && child(found.value, nameOfStep(step));
  }
  return found;
}

function child(node: SourceNode, name: string): Member | undefined {
  if (node.kind === "object") {
    return node.members.get(name);
  }
  const item = node.kind === "array" ? node.items[Number(name)] : undefined;
  return item && { keyStart: item.start, value: item };
}

/** The property name that a step of a JSON pointer writes. */
export function nameOfStep(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Adds a step to a JSON pointer. */
export function pointerTo(parent: string, step: string | number): string {
  return `${parent}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
