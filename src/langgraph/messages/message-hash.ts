import type { BaseMessage } from "@langchain/core/messages";

import { textHash } from "../../store/records/threads/bodies.ts";
import { bodyText } from "./message-codec.ts";
import { cloneJsonValue, isEmptyRecord, isJsonValue, sameJsonValue } from "./json-value.ts";

/** State of a message when its hash was taken, field by field. */
export interface Fingerprint extends Readonly<Record<CommonField, unknown>> {
  readonly hash: string;
  readonly made: unknown;
  /** Names of the fields that the message was made with, in order. */
  readonly names: readonly string[];
  readonly others: readonly (readonly [key: string, value: unknown])[];
}

/** Fingerprints of messages that nobody read here: of those that are new. */
export type Fingerprints = WeakMap<BaseMessage, Fingerprint>;

/**
 * The hash of a message's body as the message is now. Hashes are remembered, but messages are
 * changed in place now and then (the reducer sets ids, middleware touches contents), so each is
 * compared with what it was.
 */
export function messageHash(message: BaseMessage, fingerprints: Fingerprints): string {
  const known = fingerprints.get(message);
  if (known !== undefined && hasFingerprint(message, known)) {
    return known.hash;
  }
  const hash = textHash(bodyText(message));
  const fresh = fingerprintOf(message, hash);
  if (fresh !== null) {
    fingerprints.set(message, fresh);
  }
  return hash;
}

/** The fingerprint of a message whose body has the given hash; null if it cannot be compared. */
export function fingerprintOf(message: BaseMessage, hash: string): Fingerprint | null {
  const names = Object.keys(message.lc_kwargs);
  if (![...names, ...COMMON].every((key) => isJsonValue(fieldOf(message, key)))) {
    return null;
  }
  const fields: MessageFields = message;
  return {
    hash,
    made: message.constructor,
    names: sharedNames(names),
    id: message.id,
    name: message.name,
    content: snapshotOf(message.content),
    additional_kwargs: snapshotOf(message.additional_kwargs),
    response_metadata: snapshotOf(message.response_metadata),
    tool_calls: snapshotOf(fields.tool_calls),
    invalid_tool_calls: snapshotOf(fields.invalid_tool_calls),
    usage_metadata: snapshotOf(fields.usage_metadata),
    tool_call_id: fields.tool_call_id,
    status: fields.status,
    artifact: snapshotOf(fields.artifact),
    metadata: snapshotOf(fields.metadata),
    others: othersOf(message, names),
  };
}

/*
 * Nearly every list, record and set of names is the same in all messages. What they share stays in the
 * processor's cache, where 10,000 empty objects would not.
 */
const NO_ITEMS = Object.freeze([]);
export const NO_MEMBERS = Object.freeze({});
const NO_OTHERS: Fingerprint["others"] = [];

function snapshotOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const empty = Array.isArray(value) ? NO_ITEMS : NO_MEMBERS;
  return Object.keys(value).length === 0 ? empty : cloneJsonValue<unknown>(value);
}

function othersOf(message: BaseMessage, names: readonly string[]): Fingerprint["others"] {
  const others = names.filter((key) => !COMMON.has(key) || !(key in message));
  return others.length === 0
    ? NO_OTHERS
    : others.map((key) => [key, cloneJsonValue<unknown>(fieldOf(message, key))] as const);
}

/** Names by what they are: as many as there are orders of the common fields. */
const NAMES = new Map<string, readonly string[]>();

function sharedNames(names: readonly string[]): readonly string[] {
  if (!names.every((name) => COMMON.has(name))) {
    return names;
  }
  const text = names.join();
  const shared = NAMES.get(text) ?? names;
  NAMES.set(text, shared);
  return shared;
}

type MessageFields = BaseMessage & { readonly [Field in CommonField]?: unknown };

/**
 * Fields that are read by name, which is much faster than by a key, even from a message that lacks
 * them.
 */
const COMMON_FIELDS = [
  "id",
  "name",
  "content",
  "additional_kwargs",
  "response_metadata",
  "tool_calls",
  "invalid_tool_calls",
  "usage_metadata",
  "tool_call_id",
  "status",
  "artifact",
  "metadata",
] as const;
type CommonField = (typeof COMMON_FIELDS)[number];
const COMMON: ReadonlySet<string> = new Set(COMMON_FIELDS);

/**
 * True if a value is a message with the same body as the one that the fingerprint was taken of.
 * Nearly every part is the very same object or empty, so this is much cheaper than its hash: a
 * checkpoint of 10,000 messages does not write 10,000 bodies to find one new.
 */
export function hasFingerprint(value: unknown, fingerprint: Fingerprint): boolean {
  return isMade(value, fingerprint) && hasFields(value, fingerprint);
}

function isMade(value: unknown, { made }: Fingerprint): value is MessageFields {
  return typeof value === "object" && value !== null && value.constructor === made;
}

function hasFields(message: MessageFields, fingerprint: Fingerprint): boolean {
  return (
    message.id === fingerprint.id &&
    message.name === fingerprint.name &&
    message.tool_call_id === fingerprint.tool_call_id &&
    message.status === fingerprint.status &&
    isAsBefore(message.content, fingerprint.content) &&
    isAsBefore(message.additional_kwargs, fingerprint.additional_kwargs) &&
    isAsBefore(message.response_metadata, fingerprint.response_metadata) &&
    isAsBefore(message.tool_calls, fingerprint.tool_calls) &&
    isAsBefore(message.invalid_tool_calls, fingerprint.invalid_tool_calls) &&
    isAsBefore(message.usage_metadata, fingerprint.usage_metadata) &&
    isAsBefore(message.artifact, fingerprint.artifact) &&
    isAsBefore(message.metadata, fingerprint.metadata) &&
    areNames(fingerprint.names, message.lc_kwargs) &&
    haveOthers(message, fingerprint)
  );
}

/** As `sameJsonValue`, but for a snapshot: nearly every one is a text, the shared list or the shared record. */
function isAsBefore(value: unknown, snapshot: unknown): boolean {
  if (value === snapshot) {
    return true;
  }
  if (snapshot === NO_MEMBERS) {
    return isEmptyRecord(value);
  }
  return snapshot === NO_ITEMS
    ? Array.isArray(value) && value.length === 0
    : sameJsonValue(value, snapshot);
}

function areNames(names: readonly string[], fields: object): boolean {
  let index = 0;
  for (const name in fields) {
    if (name !== names[index]) {
      return false;
    }
    index += 1;
  }
  return index === names.length;
}

function haveOthers(message: BaseMessage, { others }: Fingerprint): boolean {
  for (const [key, value] of others) {
    if (!sameJsonValue(fieldOf(message, key), value)) {
      return false;
    }
  }
  return true;
}

/** Returns what `toJSON` would write of a field: the property if there is one, else what was given. */
function fieldOf(message: BaseMessage, key: string): unknown {
  return key in message ? Reflect.get(message, key) : message.lc_kwargs[key];
}
