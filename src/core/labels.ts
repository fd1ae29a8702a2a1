/** Pairs of metadata that a session has at most, and characters of a key and of a value. */
export const MAX_METADATA_PAIRS = 16;
export const MAX_KEY_LENGTH = 64;
export const MAX_METADATA_VALUE = 512;

/**
 * A key of metadata. Without a colon, so that `key:value` means one thing in a query, and beginning
 * with a letter, so that no key is a name that JavaScript has a meaning for.
 */
export const METADATA_KEY = `[A-Za-z][A-Za-z0-9_.-]{0,${MAX_KEY_LENGTH - 1}}`;

export type Metadata = Readonly<Record<string, string>>;

/** Labels by which people find a session again. They mean nothing to the agent. */
export interface SessionLabels {
  readonly name: string | null;
  readonly archived_at: string | null;
  readonly pinned_at: string | null;
  readonly metadata: Metadata;
}
