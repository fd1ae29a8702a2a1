import type { PickedHit, PickedSession } from "./picked-sessions.ts";
import type { PickerFilters } from "./picker-filters.ts";

/** Pages of sessions, read one after the other. */
export interface SessionPages {
  /** The next sessions, none of them on the last page perhaps, and whether there may be more. */
  next(): Promise<{ readonly sessions: readonly PickedSession[]; readonly more: boolean }>;
}

export interface HitSearch {
  readonly query: string;
  /** True for what is archived, too. */
  readonly archived: boolean;
  readonly signal: AbortSignal;
}

/** Where the picker reads sessions and changes them. A rejection is an Error with a sentence for a person. */
export interface SessionSource {
  /** Sessions of the working folder first, those that were used last first. */
  open(filters: PickerFilters): SessionPages;
  /** Messages that have the words, at most one of each session; none if the search is off. */
  search(wanted: HitSearch): Promise<readonly PickedHit[]>;
  preview(id: string): Promise<Preview>;
  /** Null removes the name. */
  rename(id: string, name: string | null): Promise<void>;
  archive(id: string, archived: boolean): Promise<void>;
  /** Returns the session as it is then. */
  pin(id: string, pinned: boolean): Promise<PickedSession>;
  /** Forks a session at its end; `left` is how many messages of an open exchange the fork leaves out. */
  fork(id: string): Promise<{ readonly session: PickedSession; readonly left: number }>;
  /** Lines for a person about what a deletion takes away. */
  previewDeletion(id: string): Promise<readonly string[]>;
  /** The ids that were deleted, and a sentence if something is left. */
  delete(id: string): Promise<{ readonly ids: readonly string[]; readonly note: string | null }>;
  /** A sentence if the session takes no more messages, else null. */
  refusal(session: PickedSession): string | null;
}

/** A message of the preview, cleaned. */
export interface PreviewMessage {
  readonly role: "user" | "assistant";
  /** On one line. */
  readonly text: string;
}

export interface Preview {
  /** The last messages, oldest first. */
  readonly messages: readonly PreviewMessage[];
  readonly subagents: number;
}
