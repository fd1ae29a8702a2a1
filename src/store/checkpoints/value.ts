import type { BodyInput } from "../records/threads/bodies.ts";
import { RepriseError } from "../../core/errors.ts";

/**
 * How values travel to and from the checkpoint tables: the JSON of LangGraph's JsonPlusSerializer
 * (`langgraph/encode.ts`, `decode.ts`), but for messages, which are references:
 *
 *     {"$m":i}   the i-th ref, a message
 *     {"$l":i}   the i-th ref, a list of messages
 *     {"$e":[[key, value], …]}   an object that has one of these keys itself
 *
 * The JSON of a large value is cut into chunks (`langgraph/messages/chunks.ts`), each a body of its thread.
 */
export const MESSAGE = "$m";
export const LIST = "$l";
export const ESCAPED = "$e";

/** A sequence of bodies to be kept: the items of a known list so far, and more. */
export interface SequenceInput {
  /** Items that the caller knows to be stored: the first `length` of `list`. */
  readonly known: ListVersion | null;
  /** The items that follow: indexes in `WriteBatch.bodies`. */
  readonly rest: readonly number[];
}

/** Rows that the values of one write refer to. Indexes in these arrays refer to rows that are not written yet. */
export interface WriteBatch {
  readonly bodies: readonly BodyInput[];
  readonly sequences: readonly SequenceInput[];
}

export type RefInput =
  | { readonly kind: "body"; readonly body: number }
  | { readonly kind: "sequence"; readonly sequence: number };

/** A value to be kept: its JSON here or in chunks, or nothing but a sequence of messages. */
export type ValueInput =
  | { readonly kind: "inline"; readonly json: string; readonly refs: readonly RefInput[] }
  | {
      readonly kind: "chunks";
      /** Indexes in `WriteBatch.bodies`. */
      readonly chunks: readonly number[];
      readonly refs: readonly RefInput[];
    }
  | { readonly kind: "sequence"; readonly sequence: number };

/** The first `length` items of a list: a value that never changes. */
export interface ListVersion {
  readonly list: number;
  readonly length: number;
}

/** A ref as stored: the id of a body, or a list and a length. */
export type StoredRef = number | readonly [list: number, length: number];

/**
 * A value as stored in JSON columns: inline with its refs, in chunks, or a list version. Before
 * there were chunks, the JSON of a large value was one body, `b`.
 */
export type StoredValue =
  | readonly [json: unknown, refs?: readonly StoredRef[]]
  | { readonly c: readonly number[]; readonly r?: readonly StoredRef[] }
  | { readonly b: number; readonly r?: readonly StoredRef[] }
  | { readonly l: readonly [list: number, length: number] };

/** The path of a task orders its writes; those without a task, and older ones, have none. */
export type StoredWrite = readonly [
  index: number,
  channel: string,
  value: StoredValue,
  path?: string,
];

/** The ids of the stored bodies and sequences of a batch, by position. */
export interface StoredIds {
  readonly thread: number;
  readonly bodies: readonly number[];
  readonly sequences: readonly ListVersion[];
}

/**
 * The JSON text of a StoredValue. `json` is inserted unchanged, so that no value is parsed to
 * be stored.
 */
export function storedText(value: ValueInput, ids: StoredIds): string {
  switch (value.kind) {
    case "inline":
      return value.refs.length === 0
        ? `[${value.json}]`
        : `[${value.json},${refsText(value.refs, ids)}]`;
    case "chunks": {
      const chunks = value.chunks.map((chunk) => at(ids.bodies, chunk)).join(",");
      return value.refs.length === 0
        ? `{"c":[${chunks}]}`
        : `{"c":[${chunks}],"r":${refsText(value.refs, ids)}}`;
    }
    case "sequence":
      return `{"l":${listText(at(ids.sequences, value.sequence))}}`;
  }
}

function refsText(refs: readonly RefInput[], ids: StoredIds): string {
  const texts = refs.map((ref) =>
    ref.kind === "body"
      ? String(at(ids.bodies, ref.body))
      : listText(at(ids.sequences, ref.sequence)),
  );
  return `[${texts.join(",")}]`;
}

function listText({ list, length }: ListVersion): string {
  return `[${list},${length}]`;
}

/**
 * The value that a JSON column or an export holds. Every reader gets its values from here: a kind
 * that this version does not know is refused, never taken for nothing.
 *
 * Error codes: `database_corrupt`.
 */
export function storedValue(value: unknown): StoredValue {
  if (!isStoredValue(value)) {
    throw unknownValue();
  }
  return value;
}

/** Values by channel. */
export type StoredChannels = Readonly<Record<string, StoredValue>>;

/** As `storedValue`, for the values of a checkpoint's channels. */
export function storedChannels(channels: unknown): StoredChannels {
  if (!isRecord(channels) || !areStoredValues(channels)) {
    throw unknownValue();
  }
  return channels;
}

/** The `channels` column. Error codes: `database_corrupt`. */
export function parseChannels(text: string): StoredChannels {
  return storedChannels(JSON.parse(text));
}

/** The `channels` column with another list of messages. */
export function withMessages(channels: string, { list, length }: ListVersion): string {
  return JSON.stringify({ ...parseChannels(channels), messages: { l: [list, length] } });
}

/** The JSON of what LangGraph itself notes of a step, and how the `metadata` column has it: it is in every checkpoint. */
const STEP = /^\[\{"source":"([a-z]+)","step":(-?\d+),"parents":\{\}\}\]$/;
const SHORT_STEP = /^([a-z]+) (-?\d+)$/;

/** Makes the `metadata` column of the JSON text of a StoredValue. */
export function metadataText(json: string): string {
  const [, source, step] = STEP.exec(json) ?? [];
  return step === undefined ? json : `${source} ${step}`;
}

/** The `metadata` column. Error codes: `database_corrupt`. */
export function parseMetadata(text: string): StoredValue {
  const [, source, step] = SHORT_STEP.exec(text) ?? [];
  return step === undefined
    ? storedValue(JSON.parse(text))
    : [{ source, step: Number(step), parents: {} }];
}

/** The `writes` column. Error codes: `database_corrupt`. */
export function parseWrites(text: string): readonly StoredWrite[] {
  const writes: unknown = JSON.parse(text);
  if (!Array.isArray(writes)) {
    throw unknownValue();
  }
  return writes.map(storedWrite);
}

/** As `storedValue`, for a task's write. */
export function storedWrite(write: unknown): StoredWrite {
  const [index, channel, value, ...others]: unknown[] = Array.isArray(write) ? write : [];
  const [path] = others;
  const hasPath = typeof path === "string" && others.length === 1;
  if (
    !Number.isSafeInteger(index) ||
    typeof channel !== "string" ||
    (others.length > 0 && !hasPath)
  ) {
    throw unknownValue();
  }
  const stored = [Number(index), channel, storedValue(value)] as const;
  return hasPath ? [...stored, path] : stored;
}

function isStoredValue(value: unknown): value is StoredValue {
  if (Array.isArray(value)) {
    return value.length === 1 || (value.length === 2 && areRefs(value[1]));
  }
  if (!isRecord(value)) {
    return false;
  }
  switch (Object.keys(value).sort().join()) {
    case "l":
      return isListRef(value["l"]);
    case "b":
      return isCount(value["b"]);
    case "b,r":
      return isCount(value["b"]) && areRefs(value["r"]);
    case "c":
      return areCounts(value["c"]);
    case "c,r":
      return areCounts(value["c"]) && areRefs(value["r"]);
    default:
      return false;
  }
}

function areStoredValues(values: Readonly<Record<string, unknown>>): values is StoredChannels {
  return Object.values(values).every(isStoredValue);
}

function areRefs(refs: unknown): boolean {
  return Array.isArray(refs) && refs.every((ref) => isCount(ref) || isListRef(ref));
}

function isListRef(ref: unknown): boolean {
  return areCounts(ref) && ref.length === 2;
}

function areCounts(values: unknown): values is readonly number[] {
  return Array.isArray(values) && values.every(isCount);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknownValue(): RepriseError {
  return new RepriseError(
    "database_corrupt",
    "A checkpoint holds a value that this version of Reprise does not know. Update Reprise, or restore a backup.",
  );
}

/** The lists and bodies that a stored value refers to. */
export function refsOf(value: StoredValue): {
  readonly bodies: readonly number[];
  readonly lists: readonly ListVersion[];
} {
  if ("l" in value) {
    const [list, length] = value.l;
    return { bodies: [], lists: [{ list, length }] };
  }
  const refs = ("c" in value || "b" in value ? value.r : value[1]) ?? [];
  return {
    bodies: [...textsOf(value), ...refs.filter((ref) => typeof ref === "number")],
    lists: refs
      .filter((ref) => typeof ref !== "number")
      .map(([list, length]) => ({ list, length })),
  };
}

/** The bodies that hold the JSON of a value; the others that it refers to are messages. */
export function textsOf(value: StoredValue): readonly number[] {
  if ("c" in value) {
    return value.c;
  }
  return "b" in value ? [value.b] : [];
}

/** Names a value of chunks and no messages by its chunks, which never change; null for another value. */
export function chunksKey(value: StoredValue): string | null {
  return "c" in value && (value.r ?? []).length === 0 ? value.c.join() : null;
}

/** The item of an array at a place that the caller knows to be in it. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) {
    throw new RangeError("a checkpoint refers to a place that it does not have");
  }
  return item;
}
