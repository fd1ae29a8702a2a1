/** The ways in which a mirror can differ from its checkpoints. */
export const DIFFERENCE_KINDS = [
  /** A message of a checkpoint has no row. */
  "missing",
  /** A row that no checkpoint and no user accounts for. */
  "extra",
  /** A row says something else than its message. */
  "different",
  /** A row comes before one that it has to follow. */
  "order",
  /** Positions are not 1, 2, 3 … */
  "seq",
  /** A row is hidden or shown against the session's clear mark. */
  "archived",
  /** A row says that a checkpoint holds it and none does, or the other way round. */
  "pending",
  "last_seq",
  "totals",
  "title",
  "last_message_at",
  "thread_suffix",
  /** A message's time is invalid. */
  "ts",
  /** The session's row names another root than its parents do. */
  "root",
  /** The session's row has an impossible value, and nothing shows the right one. */
  "parent",
  "depth",
  "project_key",
  /** `state` shows whether there is one. */
  "ended_at",
  /** The record of an exchange has an impossible value. */
  "exchange",
  /** A question has an impossible value. */
  "question",
  /** The run of a plan, or one of its phases, has a value that no run leaves. */
  "run",
  /** The sums of a session's requests of models are not what these add up to. */
  "usage",
  /** Messages whose session has no row. */
  "session_missing",
  /** A checkpoint cannot be read whole. The mirror may be the only copy: nothing is repaired. */
  "checkpoint_damaged",
  /** A row that nothing accounts for, and a thread whose checkpoints might have. The same. */
  "checkpoint_missing",
] as const;

export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** Difference between a mirror and its checkpoints. */
export interface Difference {
  readonly kind: DifferenceKind;
  /** Position of the row, if there is one. */
  readonly seq: number | null;
  readonly message_id: string | null;
  /** For a person; says nothing of what a message says. */
  readonly sentence: string;
}

/** Kinds that a repair leaves unchanged: no checkpoint shows the right value. */
export const LEFT_ALONE: ReadonlySet<DifferenceKind> = new Set([
  "parent",
  "depth",
  "project_key",
  "exchange",
  "question",
  "run",
]);

/** Kinds that forbid a repair. */
export const BEYOND_REPAIR: ReadonlySet<DifferenceKind> = new Set([
  "checkpoint_damaged",
  "checkpoint_missing",
  "session_missing",
]);

/** A finding of no one message. */
export function about(kind: DifferenceKind, sentence: string): Difference {
  return { kind, seq: null, message_id: null, sentence };
}
