import type { BaseMessage } from "@langchain/core/messages";

import { textHash } from "../store/checkpoints/bodies.ts";
import { bodyText } from "./message-codec.ts";
import { cloneJsonValue, isJsonValue, sameJsonValue } from "./json-value.ts";

/** What a message was when its hash was taken, part by part. */
export interface Fingerprint {
  readonly hash: string;
  readonly made: unknown;
  /** Fields that the message was made with, `COMMON` among them. */
  readonly count: number;
  readonly id: unknown;
  readonly name: unknown;
  readonly content: unknown;
  readonly additional_kwargs: unknown;
  readonly response_metadata: unknown;
  readonly others: readonly (readonly [key: string, value: unknown])[];
}

/**
 * The hash of a message's body as the message is now. Hashes are remembered, so that a checkpoint
 * of 2,000 messages does not write 2,000 bodies to find one new. Messages are changed in place now
 * and then (the reducer sets ids, middleware touches contents), so each is compared with what it
 * was, part by part; that is cheap, because nearly every part is the very same object.
 */
export function messageHash(
  message: BaseMessage & { readonly [FINGERPRINT]?: Fingerprint },
): string {
  const fingerprint = message[FINGERPRINT];
  if (fingerprint !== undefined && isUnchanged(message, fingerprint)) {
    return fingerprint.hash;
  }
  const hash = textHash(bodyText(message));
  const fresh = fingerprintOf(message, hash);
  if (fresh !== null) {
    rememberFingerprint(message, fresh);
  }
  return hash;
}

/** The fingerprint of a message whose body has the given hash; null if it cannot be compared. */
export function fingerprintOf(message: BaseMessage, hash: string): Fingerprint | null {
  const fields = Object.keys(message.lc_kwargs).map((key) => [key, fieldOf(message, key)] as const);
  if (!fields.every(([, value]) => isJsonValue(value))) {
    return null;
  }
  const { id, name } = message;
  return {
    hash,
    made: message.constructor,
    count: fields.length,
    id,
    name,
    content: cloneJsonValue<unknown>(message.content),
    additional_kwargs: cloneJsonValue<unknown>(message.additional_kwargs),
    response_metadata: cloneJsonValue<unknown>(message.response_metadata),
    others: fields
      .filter(([key]) => !COMMON.has(key))
      .map(([key, value]) => [key, cloneJsonValue(value)] as const),
  };
}

/** Fields that every message has, so that they can be compared without a look-up by name. */
const COMMON: ReadonlySet<string> = new Set([
  "id",
  "name",
  "content",
  "additional_kwargs",
  "response_metadata",
]);

function isUnchanged(message: BaseMessage, fingerprint: Fingerprint): boolean {
  return (
    message.id === fingerprint.id &&
    message.name === fingerprint.name &&
    message.constructor === fingerprint.made &&
    sameJsonValue(message.content, fingerprint.content) &&
    sameJsonValue(message.additional_kwargs, fingerprint.additional_kwargs) &&
    sameJsonValue(message.response_metadata, fingerprint.response_metadata) &&
    countFields(message.lc_kwargs) === fingerprint.count &&
    fingerprint.others.every(([key, value]) => sameJsonValue(fieldOf(message, key), value))
  );
}

function countFields(fields: object): number {
  let count = 0;
  for (const _ in fields) {
    count += 1;
  }
  return count;
}

/** What `toJSON` would write of a field: the property if there is one, else what was given. */
function fieldOf(message: BaseMessage, key: string): unknown {
  return key in message ? Reflect.get(message, key) : message.lc_kwargs[key];
}

/**
 * The fingerprint is kept on the message itself: nobody sees it, and it is freed with the message.
 * A WeakMap would cost the garbage collector a visit to every message of a thread at every read.
 */
const FINGERPRINT = Symbol("reprise.fingerprint");

/** Remembers the fingerprint of a message. */
export function rememberFingerprint(message: BaseMessage, fingerprint: Fingerprint): void {
  Reflect.defineProperty(message, FINGERPRINT, {
    value: fingerprint,
    enumerable: false,
    writable: true,
    configurable: true,
  });
}
