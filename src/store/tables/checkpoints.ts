import type { Generated, Selectable } from "kysely";

/**
 * The tables in which the agent's checkpoints are kept.
 *
 *     thread ─┬─ bodies       immutable texts, each once a thread: messages, chunks of values, shapes
 *             ├─ lists ─ items  append-only sequences of message bodies that share prefixes
 *             ├─ checkpoints  one small row each; a channel's value refers to bodies and lists
 *             └─ writes       what the tasks of a checkpoint have written so far
 *
 * A checkpoint needs no other checkpoint to be read, so old ones can be deleted one by one. A list
 * is deleted whole, when no value refers to it or to a list on top of it; a body when no value, no
 * list item and no shape does. A fork's thread refers to bodies and lists of the thread that it began from.
 * JSON columns are text: JSON escapes NUL and lone surrogates, so both engines keep it unchanged.
 */
export interface CheckpointTables {
  threads: ThreadTable;
  families: FamilyTable;
  checkpoint_bodies: BodyTable;
  checkpoint_lists: ListTable;
  checkpoint_list_items: ListItemTable;
  checkpoints: CheckpointTable;
  checkpoint_writes: WriteTable;
}

/** A number for each thread id: every row below refers to it. Never used again once deleted. */
export interface ThreadTable {
  id: Generated<number>;
  thread_id: string;
  /**
   * The highest ids when the thread was last pruned. Nothing that was kept then refers to a higher
   * one, so pruning reads one exchange, however long the thread is.
   */
  folded_checkpoint: Generated<number>;
  folded_body: Generated<number>;
  folded_list: Generated<number>;
  /** Raised when `pruneFreeThread` deletes something: see `holdThread`. */
  prunes: Generated<number>;
  /** The mark of the latest root checkpoint; row 0 for none. See `head-mark.ts`. */
  head_row: Generated<number>;
  head_length: Generated<number>;
  head_hash: Generated<string>;
}

/**
 * Rows of another thread that a thread refers to: those up to these numbers, which the owner neither changes nor
 * deletes. A fork of a fork has a row for each. See `records/threads/families.ts`.
 */
export interface FamilyTable {
  thread: number;
  owner: number;
  last_body: number;
  last_list: number;
}

export interface BodyTable {
  id: Generated<number>;
  thread: number;
  /** Unique in the thread; see `textHash` in `bodies.ts`. */
  hash: string;
  body: string;
}

export type BodyRow = Readonly<Selectable<Omit<BodyTable, "thread">>>;

/**
 * A sequence of message bodies. Items are only ever appended, so (list, length) names a value for
 * ever. An edit, a removal or a fork opens a new list that begins with `base_length` items of
 * `base`; no list is ever written by two branches.
 */
export interface ListTable {
  id: Generated<number>;
  thread: number;
  base: number | null;
  base_length: Generated<number>;
  /** Items so far, those of the base included. */
  length: Generated<number>;
  /** How many bases are below; bounded, so that reading costs a few queries at most. */
  depth: Generated<number>;
}

export interface ListItemTable {
  list: number;
  /** From 0; the first of a list with a base is `base_length`. */
  position: number;
  body: number;
}

export interface CheckpointTable {
  /** The order of checkpoints: the latest has the highest, whatever the clocks said. */
  id: Generated<number>;
  thread: number;
  ns: string;
  checkpoint_id: string;
  parent_id: string | null;
  ts: string;
  /**
   * The body that holds what a graph repeats at every step: the checkpoint's versions with null in
   * place of each number, and the values of channels that nothing was ever written to.
   */
  shape: number;
  /** Numbers in order, with commas between. */
  versions: string;
  /** JSON: channel name to StoredValue. */
  channels: string;
  /** JSON: one StoredValue. */
  metadata: string;
}

export interface WriteTable {
  thread: number;
  ns: string;
  checkpoint_id: string;
  task_id: string;
  /** JSON: StoredWrite[], ascending by index. */
  writes: string;
}
