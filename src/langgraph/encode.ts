import { BaseMessage } from "@langchain/core/messages";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";

import {
  ESCAPED,
  LIST,
  MESSAGE,
  type RefInput,
  type ValueInput,
} from "../store/checkpoints/value.ts";
import { chunksOf } from "./messages/chunks.ts";
import { memberOf, type Replacer, stringify } from "./messages/json.ts";
import type { WriteBatchBuilder } from "./write-batch.ts";

/**
 * Longer values are cut into chunks, each kept once in its thread. Shorter ones are in every
 * checkpoint that has them, which costs less than a body and its index.
 */
const INLINE_LENGTH = 120;

/** Fewer messages than this in a row are cheaper one by one than as a separate list. */
const LIST_LENGTH = 8;

/** A value to be kept. What it refers to goes into the write batch. */
export function encodeValue(value: unknown, builder: WriteBatchBuilder): ValueInput {
  const sequence = Array.isArray(value) && value.length > 0 ? builder.addSequence(value) : null;
  return sequence === null ? encodeJson(value, builder) : { kind: "sequence", sequence };
}

/** As `encodeValue`, for what is written once and soon gone: a short list is not worth a row. */
export function encodeJson(value: unknown, builder: WriteBatchBuilder): ValueInput {
  const refs: RefInput[] = [];
  const json = stringify(value, replacer(refs, builder));
  return json.length <= INLINE_LENGTH
    ? { kind: "inline", json, refs }
    : { kind: "chunks", chunks: chunksOf(json).map((text) => builder.addChunk(text)), refs };
}

function replacer(refs: RefInput[], builder: WriteBatchBuilder): Replacer {
  return function (this: unknown, key, value) {
    const raw = memberOf(this, key);
    if (BaseMessage.isInstance(raw)) {
      return { [MESSAGE]: refs.push({ kind: "body", body: builder.addMessage(raw) }) - 1 };
    }
    const sequence =
      Array.isArray(raw) && raw.length >= LIST_LENGTH ? builder.addSequence(raw) : null;
    if (sequence !== null) {
      return { [LIST]: refs.push({ kind: "sequence", sequence }) - 1 };
    }
    return special(value);
  };
}

/** Writes values that JSON does not know, as JsonPlusSerializer does. */
function special(value: unknown): unknown {
  if (value === undefined) {
    return { lc: 2, type: "undefined" };
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (value instanceof DeltaSnapshot) {
    return { lc: 2, type: "delta_snapshot", value: value.value };
  }
  if (value instanceof Set || value instanceof Map) {
    return constructed(value.constructor.name, [[...value]]);
  }
  if (value instanceof RegExp) {
    return constructed("RegExp", [value.source, value.flags]);
  }
  if (value instanceof Error) {
    return constructed("Error", [value.message]);
  }
  if (value instanceof Uint8Array) {
    return constructed("Uint8Array", [[...value]], "from");
  }
  if (isSend(value)) {
    const { node, args, timeout } = value;
    return { node, args, ...(timeout === undefined ? {} : { timeout }) };
  }
  return MESSAGE in value || LIST in value || ESCAPED in value
    ? { [ESCAPED]: Object.entries(value) }
    : value;
}

function constructed(name: string, args: unknown[], method: string | null = null): object {
  return { lc: 2, type: "constructor", id: [name], method, args, kwargs: {} };
}

interface Send {
  readonly node: unknown;
  readonly args: unknown;
  readonly timeout?: unknown;
}

function isSend(value: object): value is Send {
  return "lg_name" in value && value.lg_name === "Send";
}
