import { load } from "@langchain/core/load";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";

import { newId } from "../../core/ids.ts";
import { storableReplacer } from "../../core/text/text.ts";
import { stringify } from "./json.ts";
import { cloneJsonValue } from "./json-value.ts";

/**
 * A message's body: `[class, fields]` as JSON, fields by name, what the class fills in by itself
 * left out. The same message always gives the same text. A message without an id gets one, so
 * that what is written of it now and later is one message.
 */
export function bodyText(message: BaseMessage): string {
  ensureId(message);
  const json = message.toJSON();
  if (json.type !== "constructor") {
    throw new TypeError("a message of a class that cannot be stored");
  }
  const fields = Object.entries(json.kwargs)
    .filter(([key, value]) => !isFilledIn(key, value, json.kwargs))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return stringify([classOf(json.id), Object.fromEntries(fields)], storableReplacer);
}

/** Makes a message of a body, a new one at every call. */
export type Revive = () => BaseMessage | Promise<BaseMessage>;

/** Reads a body once, so that making messages of it is cheap. */
export function reviverOf(text: string): Revive {
  return reviveKnown(text) ?? (() => loadMessage(text));
}

function ensureId(message: BaseMessage): void {
  message.id ??= newId();
  if (message.lc_kwargs["id"] === undefined || message.lc_kwargs["id"] === null) {
    message.lc_kwargs["id"] = message.id;
  }
}

/** Fields that every constructor of these fills in when they are missing. */
function isFilledIn(
  key: string,
  value: unknown,
  fields: Readonly<Record<string, unknown>>,
): boolean {
  switch (key) {
    case "additional_kwargs":
    case "response_metadata":
      return typeof value === "object" && value !== null && Object.keys(value).length === 0;
    case "tool_calls":
    case "invalid_tool_calls":
      // if the provider's raw calls are kept too, a missing list would be read from them again
      return Array.isArray(value) && value.length === 0 && !hasRawCalls(fields);
    default:
      return false;
  }
}

function hasRawCalls({ additional_kwargs: extra }: Readonly<Record<string, unknown>>): boolean {
  return typeof extra === "object" && extra !== null && "tool_calls" in extra;
}

const CORE = ["langchain_core", "messages"];

function classOf(id: readonly string[]): string | readonly string[] {
  const [library, folder, name] = id;
  return id.length === 3 && library === CORE[0] && folder === CORE[1] && name !== undefined
    ? name
    : id;
}

/**
 * The classes that nearly every message is of, made without LangChain's loader, which takes tens
 * of microseconds a message and forgets `usage_metadata` of an AIMessageChunk. Null for the rest.
 */
function reviveKnown(text: string): Revive | null {
  if (LOADED.test(text)) {
    return null;
  }
  const [name, fields] = JSON.parse(text) as Body<never>;
  if (Object.keys(fields).some((key) => key.includes("_") && !FIELDS.has(key))) {
    return null;
  }
  const Message = typeof name === "string" ? CLASSES.get(name) : undefined;
  return Message === undefined ? null : () => new Message(cloneJsonValue(fields));
}

const CLASSES: ReadonlyMap<string, new (fields: never) => BaseMessage> = new Map(
  Object.entries({ HumanMessage, SystemMessage, AIMessage, AIMessageChunk, ToolMessage }),
);

/** LangChain's own marks inside a field: only its loader knows what to make of them. */
const LOADED = /"lc":|"__lc_escaped__":/;

/** Fields that keep their names; the loader renames others with an underscore. */
const FIELDS: ReadonlySet<string> = new Set([
  "additional_kwargs",
  "response_metadata",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_chunks",
  "tool_call_id",
  "usage_metadata",
]);

type Body<Fields> = readonly [name: string | readonly string[], fields: Fields];

function loadMessage(text: string): Promise<BaseMessage> {
  const [name, kwargs] = JSON.parse(text) as Body<unknown>;
  const id = typeof name === "string" ? [...CORE, name] : name;
  return load<BaseMessage>(JSON.stringify({ lc: 1, type: "constructor", id, kwargs }));
}
