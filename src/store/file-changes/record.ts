import type { Entry } from "../../core/file-entries.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import type { Operation } from "../store.ts";

/** Changes of one call that are about to be made. */
export interface NewFileChanges {
  readonly fence: Fence;
  readonly n: number;
  readonly call_id: string;
  readonly tool: string;
  readonly root: string;
  readonly place: string | null;
  readonly host: string;
  /** In the order in which they are made. */
  readonly changes: readonly {
    readonly path: string;
    readonly before: Entry | null;
    readonly after: Entry | null;
  }[];
}

/** Names changes of a session by their numbers. */
export interface ChangeNumbers {
  readonly session_id: string;
  readonly numbers: readonly number[];
}

/**
 * Stores what is about to be changed, all or nothing, and returns its numbers. Error codes: `lease_lost`,
 * `session_ended`.
 */
export const beginFileChanges: Operation<NewFileChanges, ChangeNumbers> = async (
  tx,
  { fence, changes, ...call },
) => {
  const { session_id } = fence;
  await holdFence(tx, fence);
  const last = await tx.db
    .selectFrom("file_changes")
    .select(({ fn }) => fn.max("number").as("number"))
    .where("session_id", "=", session_id)
    .executeTakeFirst();
  const first = (last?.number ?? 0) + 1;
  const rows = changes.map(({ path, before, after }, index) => ({
    ...call,
    session_id,
    path,
    number: first + index,
    entry_before: before === null ? null : JSON.stringify(before),
    entry_after: after === null ? null : JSON.stringify(after),
    state: "begun" as const,
    ts: tx.dialect.now(),
    undone_at: null,
  }));
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    await tx.db
      .insertInto("file_changes")
      .values(rows.slice(at, at + ROWS_AT_ONCE))
      .execute();
  }
  return { session_id, numbers: rows.map(({ number }) => number) };
};

/** Both engines bound the parameters of a statement. */
const ROWS_AT_ONCE = 100;

/** Stores that the changes were made. */
export const finishFileChanges: Operation<ChangeNumbers, void> = async (
  tx,
  { session_id, numbers },
) => {
  await tx.db
    .updateTable("file_changes")
    .set({ state: "made" })
    .where("session_id", "=", session_id)
    .where("number", "in", numbers)
    .execute();
};

/** Removes changes that were not made. */
export const dropFileChanges: Operation<ChangeNumbers, void> = async (
  tx,
  { session_id, numbers },
) => {
  await tx.db
    .deleteFrom("file_changes")
    .where("session_id", "=", session_id)
    .where("number", "in", numbers)
    .execute();
};

/** Stores that changes were taken back, or made again. `dropped` are those that turned out not to have been made. */
export const markUndone: Operation<
  {
    readonly undone: boolean;
    readonly changes: readonly { readonly session_id: string; readonly number: number }[];
    readonly dropped: readonly { readonly session_id: string; readonly number: number }[];
  },
  void
> = async (tx, { undone, changes, dropped }) => {
  for (const { session_id, number } of dropped) {
    await dropFileChanges(tx, { session_id, numbers: [number] });
  }
  for (const { session_id, number } of changes) {
    await tx.db
      .updateTable("file_changes")
      .set({ state: "made", undone_at: undone ? tx.dialect.now() : null })
      .where("session_id", "=", session_id)
      .where("number", "=", number)
      .execute();
  }
  for (const session_id of new Set(changes.map((each) => each.session_id))) {
    tx.touch(session_id);
  }
};
