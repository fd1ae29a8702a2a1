import { RepriseError } from "../../../core/errors.ts";
import type { DeletedSession } from "../../../core/schemas/schemas.ts";
import type { Session } from "../../../core/sessions.ts";
import { forgetDeletions } from "../changes/forget-deletions.ts";
import { deleteThreads, holdFamilies } from "../threads/families.ts";
import { sessionInThreadId } from "../threads/free-threads.ts";
import { continueAbove } from "../questions/continue.ts";
import { delegationOf, lockPath } from "../questions/tree.ts";
import { indexFamily } from "../search/forget.ts";
import { lockSession } from "./lock.ts";
import { readSession } from "./read.ts";
import type { Operation, Tx } from "../../store.ts";
import { childIdsOf, threadRange, treeIdsOf } from "./tree-ids.ts";

/** Rows that a session's deletion takes away. */
export interface DeletionPreview {
  readonly session: Session;
  /** Name that people gave it; null if it has none. */
  readonly name: string | null;
  readonly messages: number;
  readonly threads: number;
  readonly checkpoints: number;
}

/** Returns the deletion as programs read it. */
export function deletedSession(preview: DeletionPreview): DeletedSession {
  const { session, messages, threads, checkpoints } = preview;
  const { id, title, parent_session_id } = session;
  return { id, title, parent_session_id, messages, threads, checkpoints };
}

/**
 * The session and all below it, each after its parent, with everything that belongs to it.
 *
 * Error codes: `session_not_found`.
 */
export const previewDeletion: Operation<
  { readonly id: string },
  readonly DeletionPreview[]
> = async (tx, { id }) => {
  const previews: DeletionPreview[] = [];
  for (const each of await treeIdsOf(tx, id)) {
    previews.push(await readOne(tx, each));
  }
  return previews;
};

async function readOne(tx: Tx, id: string): Promise<DeletionPreview> {
  const session = await readSession(tx, { id });
  const { name } = await tx.db
    .selectFrom("sessions")
    .select("name")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const { from, before } = threadRange(id);
  const { messages } = await tx.db
    .selectFrom("messages")
    .select(({ fn }) => fn.countAll<number>().as("messages"))
    .where("session_id", "=", id)
    .executeTakeFirstOrThrow();
  const { threads, checkpoints } = await tx.db
    .selectFrom("threads")
    .leftJoin("checkpoints", "checkpoints.thread", "threads.id")
    .select(({ fn }) => [
      fn.count<number>("threads.id").distinct().as("threads"),
      fn.count<number>("checkpoints.id").as("checkpoints"),
    ])
    .where("thread_id", ">=", from)
    .where("thread_id", "<", before)
    // a free thread may begin with a session's id
    .where(sessionInThreadId(), "=", id)
    .executeTakeFirstOrThrow();
  return { session, name, messages, threads, checkpoints };
}

/**
 * Deletes a session for good: its messages, its threads with all that was kept of them, and the
 * sub-agents below it. All or nothing. Returns what was deleted, each after its parent.
 *
 * Error codes: `session_not_found`; `session_busy` while an exchange is running in one of them.
 */
export const deleteSessionTree: Operation<
  { readonly id: string },
  readonly DeletionPreview[]
> = async (tx, input) => {
  await holdFamilies(tx);
  const path = await delegationOf(tx, await lockPath(tx, input.id));
  await holdTree(tx, input.id);
  const previews = await previewDeletion(tx, input);
  if (previews.some(({ session }) => session.activity === "running")) {
    throw new RepriseError(
      "session_busy",
      "An exchange is running in this session or in one of its sub-agents; wait until it is done, or end the session first.",
    );
  }
  await openCycle(tx, previews);
  for (const { session } of previews) {
    await indexFamily(tx, session.id);
  }
  // a row that is referred to cannot go before the one that refers to it
  for (const { session } of previews.toReversed()) {
    await deleteOne(tx, session.id);
  }
  await forgetDeletions(tx);
  await continueAbove(tx, path);
  return previews;
};

/**
 * From here on no exchange can take one of them, and none gets a sub-agent: each is locked before
 * those below it are read.
 */
export function holdTree(tx: Tx, id: string): Promise<void> {
  return holdBelow(tx, id, new Set());
}

async function holdBelow(tx: Tx, id: string, held: Set<string>): Promise<void> {
  if (!held.has(id)) {
    held.add(id);
    await lockSession(tx, id);
    for (const child of await childIdsOf(tx, id)) {
      await holdBelow(tx, child, held);
    }
  }
}

/** Takes its parent from a session that works for one below it, as in a damaged database. */
async function openCycle(tx: Tx, previews: readonly DeletionPreview[]): Promise<void> {
  const [top] = previews;
  const parent = top?.session.parent_session_id ?? null;
  if (top !== undefined && previews.some(({ session }) => session.id === parent)) {
    await tx.db
      .updateTable("sessions")
      .set({ parent_session_id: null })
      .where("id", "=", top.session.id)
      .execute();
  }
}

async function deleteOne(tx: Tx, id: string): Promise<void> {
  const { from, before } = threadRange(id);
  const threads = await tx.db
    .selectFrom("threads")
    .select("id")
    .where("thread_id", ">=", from)
    .where("thread_id", "<", before)
    .where(sessionInThreadId(), "=", id)
    .execute();
  await deleteThreads(
    tx,
    threads.map((thread) => thread.id),
  );
  await tx.db.deleteFrom("sessions").where("id", "=", id).execute();
  tx.touch(id);
}
