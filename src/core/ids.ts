import { ID_PREFIX_LENGTH } from "./limits.ts";

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** Version 1 to 8 and the variant of RFC 9562, or its Nil or Max UUID. */
const RFC_9562 =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}-(?:0{4}-){3}0{12}|f{8}-(?:f{4}-){3}f{12})$/;
const PREFIX = /^[0-9a-f-]+$/;

/** A new session or message id: UUIDv4, because the start of a time-ordered id is not unique. */
export function newId(): string {
  // the global one: importing node:crypto loads all of it, whether an id is made or not
  return crypto.randomUUID();
}

/** True for 36 characters in the form of a UUID, of whatever version, in either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** True for a UUID, in lower case, as RFC 9562 defines it: other clients refuse every other one. */
export function isRfc9562Uuid(id: string): boolean {
  return RFC_9562.test(id);
}

/** Name of a session as a person or program writes it. */
export type SessionReference =
  | { readonly kind: "id"; readonly id: string }
  | { readonly kind: "prefix"; readonly prefix: string }
  | { readonly kind: "short" }
  | { readonly kind: "none" };

/**
 * Reads an id or a prefix. Letters may be upper case, as UUIDs may. Wildcards and every other
 * character match nothing (`none`), so that `%` or an empty string can never open a session.
 */
export function parseSessionReference(text: string): SessionReference {
  const id = text.toLowerCase();
  if (isUuid(id)) {
    return { kind: "id", id };
  }
  if (!PREFIX.test(id) || id.length > 36) {
    return { kind: "none" };
  }
  return id.length < ID_PREFIX_LENGTH ? { kind: "short" } : { kind: "prefix", prefix: id };
}

/** Ids that other tables and addresses may have: an id is anything that a model's server sends. */
const PLAIN_ID = /^[\w-]{1,64}$/;

/** True for a provider's id that can be a call's own. */
export function isPlainId(id: string): boolean {
  return PLAIN_ID.test(id);
}
