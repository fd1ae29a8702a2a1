import type { Entry } from "../../../core/files/file-entries.ts";
import { type Fence, holdFence } from "../leases/fence.ts";
import { lockSession } from "../sessions/lock.ts";
import type { Operation, Tx } from "../../store.ts";

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
  await holdFence(tx, fence);
  const { session_id } = fence;
  return {
    session_id,
    numbers: await insertChanges(tx, { ...call, session_id, changes, state: "begun" }),
  };
};

/** Changes of a call that were found after it, on the disk. */
export type FoundFileChanges = Omit<NewFileChanges, "fence"> & { readonly session_id: string };

/**
 * Stores what a call has changed, all or nothing, without those of its changes that are stored already. Needs no lease: it is
 * what was found on the disk.
 */
export const recordFileChanges: Operation<FoundFileChanges, void> = async (
  tx,
  { changes, ...call },
) => {
  await lockSession(tx, call.session_id);
  const rows = await tx.db
    .selectFrom("file_changes")
    .select(["path", "entry_before", "entry_after"])
    .where("session_id", "=", call.session_id)
    .where("call_id", "=", call.call_id)
    .execute();
  const stored = new Set(
    rows.map(({ path, entry_before, entry_after }) => [path, entry_before, entry_after].join("\0")),
  );
  const added = changes.filter(
    ({ path, before, after }) => !stored.has([path, jsonOf(before), jsonOf(after)].join("\0")),
  );
  await insertChanges(tx, { ...call, changes: added, state: "made" });
  tx.touch(call.session_id);
};

async function insertChanges(
  tx: Tx,
  { changes, ...call }: FoundFileChanges & { readonly state: "begun" | "made" },
): Promise<readonly number[]> {
  const { session_id } = call;
  const last = await tx.db
    .selectFrom("file_changes")
    .select(({ fn }) => fn.max("number").as("number"))
    .where("session_id", "=", session_id)
    .executeTakeFirst();
  const first = (last?.number ?? 0) + 1;
  const rows = changes.map(({ path, before, after }, index) => ({
    ...call,
    path,
    number: first + index,
    entry_before: jsonOf(before),
    entry_after: jsonOf(after),
    ts: tx.dialect.now(),
    undone_at: null,
  }));
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    await tx.db
      .insertInto("file_changes")
      .values(rows.slice(at, at + ROWS_AT_ONCE))
      .execute();
  }
  return rows.map(({ number }) => number);
}

function jsonOf(entry: Entry | null): string | null {
  return entry === null ? null : JSON.stringify(entry);
}

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
