import { Serializable } from "@langchain/core/load/serializable";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";

import { cloneJsonValue, sameJsonValue } from "./json-value.ts";
import { type Fingerprint, NO_MEMBERS } from "./message-hash.ts";

/** Makes a message of its fingerprint: as the constructor would, sharing nothing that could change. */
export type Copier = (of: Fingerprint) => BaseMessage;

/**
 * Returns a function that copies a message which was made of JSON; null if only its constructor can. A long thread is
 * copied at every read; the constructors take several times as long and more memory.
 */
export function copierOf(message: BaseMessage, fingerprint: Fingerprint): Copier | null {
  const copy = COPIERS.get(message.constructor);
  return copy !== undefined && isCopy(copy(fingerprint), message) ? copy : null;
}

const COPIERS: ReadonlyMap<unknown, Copier> = new Map<unknown, Copier>([
  [HumanMessage, copyHuman],
  [AIMessage, copyAnswer],
  [ToolMessage, copyResult],
]);

/** Messages of other versions of LangChain may have more. */
function isCopy(copy: BaseMessage, message: BaseMessage): boolean {
  const keys = Reflect.ownKeys(message);
  return (
    keys.length === Reflect.ownKeys(copy).length &&
    keys.every((key) => sameJsonValue(Reflect.get(copy, key), Reflect.get(message, key))) &&
    Object.keys(message.lc_kwargs).every((key) => isField(message, key) && isField(copy, key))
  );
}

function isField(message: BaseMessage, key: string): boolean {
  return Object.hasOwn(message, key) && Reflect.get(message, key) === message.lc_kwargs[key];
}

/** The members of messages that LangChain declares read-only or keeps for itself. */
interface Copy {
  lc_kwargs: Fields;
  lc_namespace: string[];
  lc_serializable: boolean;
  [MESSAGE]: boolean;
  id: unknown;
  name: unknown;
  content: unknown;
  additional_kwargs: unknown;
  response_metadata: unknown;
  type: unknown;
  tool_calls: unknown;
  invalid_tool_calls: unknown;
  usage_metadata: unknown;
  lc_direct_tool_output: boolean;
  status: unknown;
  tool_call_id: unknown;
  metadata: unknown;
  artifact: unknown;
}
type Fields = Partial<Omit<Copy, "lc_kwargs">>;

const MESSAGE = Symbol.for("langchain.message");

/*
 * What the constructors of the classes do, in the same order: then the engine takes what is made here
 * for the same kind of object. One function for each, because code that makes several is slower.
 */

function copyHuman(of: Fingerprint): BaseMessage {
  const fields: Fields = {
    content: cloneJsonValue<unknown>(of.content),
    id: of.id,
    additional_kwargs: recordOf(of.additional_kwargs),
    response_metadata: recordOf(of.response_metadata),
  };
  if (of.name !== undefined) {
    fields.name = of.name;
  }
  const copy = Reflect.construct(Serializable, [fields], HumanMessage) as Copy;
  copy.lc_namespace = ["langchain_core", "messages"];
  copy.lc_serializable = true;
  copy[MESSAGE] = true;
  copy.id = fields.id;
  copy.name = fields.name;
  copy.content = fields.content;
  copy.additional_kwargs = fields.additional_kwargs;
  copy.response_metadata = fields.response_metadata;
  copy.type = "human";
  return copy as unknown as BaseMessage;
}

function copyAnswer(of: Fingerprint): BaseMessage {
  const fields: Fields = {
    content: cloneJsonValue<unknown>(of.content),
    id: of.id,
    tool_calls: cloneJsonValue<unknown>(of.tool_calls),
    invalid_tool_calls: cloneJsonValue<unknown>(of.invalid_tool_calls),
    additional_kwargs: recordOf(of.additional_kwargs),
    response_metadata: recordOf(of.response_metadata),
  };
  if (of.usage_metadata !== undefined) {
    fields.usage_metadata = recordOf(of.usage_metadata);
  }
  if (of.name !== undefined) {
    fields.name = of.name;
  }
  const copy = Reflect.construct(Serializable, [fields], AIMessage) as Copy;
  copy.lc_namespace = ["langchain_core", "messages"];
  copy.lc_serializable = true;
  copy[MESSAGE] = true;
  copy.id = fields.id;
  copy.name = fields.name;
  copy.content = fields.content;
  copy.additional_kwargs = fields.additional_kwargs;
  copy.response_metadata = fields.response_metadata;
  copy.type = "ai";
  copy.tool_calls = fields.tool_calls;
  copy.invalid_tool_calls = fields.invalid_tool_calls;
  copy.usage_metadata = fields.usage_metadata;
  return copy as unknown as BaseMessage;
}

function copyResult(of: Fingerprint): BaseMessage {
  const fields: Fields = {
    content: cloneJsonValue<unknown>(of.content),
    id: of.id,
    tool_call_id: of.tool_call_id,
    additional_kwargs: recordOf(of.additional_kwargs),
    response_metadata: recordOf(of.response_metadata),
  };
  if (of.name !== undefined) {
    fields.name = of.name;
  }
  if (of.status !== undefined) {
    fields.status = of.status;
  }
  if (of.artifact !== undefined) {
    fields.artifact = cloneJsonValue<unknown>(of.artifact);
  }
  if (of.metadata !== undefined) {
    fields.metadata = cloneJsonValue<unknown>(of.metadata);
  }
  const copy = Reflect.construct(Serializable, [fields], ToolMessage) as Copy;
  copy.lc_namespace = ["langchain_core", "messages"];
  copy.lc_serializable = true;
  copy[MESSAGE] = true;
  copy.id = fields.id;
  copy.name = fields.name;
  copy.content = fields.content;
  copy.additional_kwargs = fields.additional_kwargs;
  copy.response_metadata = fields.response_metadata;
  copy.lc_direct_tool_output = true;
  copy.type = "tool";
  copy.status = of.status;
  copy.tool_call_id = of.tool_call_id;
  copy.metadata = fields.metadata;
  copy.artifact = fields.artifact;
  return copy as unknown as BaseMessage;
}

function recordOf(value: unknown): unknown {
  return value === NO_MEMBERS ? new EmptyRecord() : cloneJsonValue(value);
}

/**
 * Makes the same as `{}`, in 24 bytes instead of 56, because the engine reserves memory for the members of
 * a literal. Nearly every message has two of them: it saves a tenth of the time of a read.
 */
const EmptyRecord = function () {} as unknown as new () => object;
EmptyRecord.prototype = Object.prototype;
