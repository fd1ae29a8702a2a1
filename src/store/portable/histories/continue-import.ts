import { threadId } from "../../../core/threads.ts";
import { batches } from "../../records/threads/bodies.ts";
import { deleteThreads, holdFamilies } from "../../records/threads/families.ts";
import { lockSession } from "../../records/sessions/lock.ts";
import { rootOf } from "../../records/sessions/tree-ids.ts";
import { newId } from "../../../core/ids.ts";
import type { Operation, Tx } from "../../store.ts";
import type { PortableMessage, SessionTree } from "../export-schema.ts";
import { messageRow, writeSessionTree, writeTree } from "../write-tree.ts";
import { writeSessionThread } from "../write-thread.ts";

/**
 * Kinds of outcomes for one session. `new`: it was not there. `added`: it had the beginning of these messages.
 * `present`: it has all of them. `kept`: it has others, because it was continued, changed or ended here, or the history
 * was rewritten; nothing was added to it.
 */
export type ImportOutcome = "new" | "added" | "present" | "kept";

export interface ImportedSession {
  readonly id: string;
  readonly outcome: ImportOutcome;
  /** Messages that were stored, or that a `kept` session lacks. */
  readonly messages: number;
}

/**
 * Stores a session whose ids follow from a history, or what its history has more than the database. All of the tree, or
 * nothing. The tree is one that `verifyTree` has accepted. Returns its sessions, each after its parent.
 *
 * Error codes: as `writeSessionTree`.
 */
export const continueImport: Operation<
  { readonly tree: SessionTree },
  readonly ImportedSession[]
> = async (tx, { tree }) => {
  if (!(await isStored(tx, tree.session.id))) {
    await writeSessionTree(tx, { tree });
    return created(tree);
  }
  await holdFamilies(tx);
  return continueTree(tx, tree);
};

async function continueTree(tx: Tx, tree: SessionTree): Promise<readonly ImportedSession[]> {
  const imported: ImportedSession[] = [await continueOne(tx, tree)];
  for (const child of tree.children) {
    if (await isStored(tx, child.session.id)) {
      imported.push(...(await continueTree(tx, child)));
    } else {
      await writeTree(tx, child, { root: await rootOf(tx, tree.session.id), markOf: newId });
      imported.push(...created(child));
    }
  }
  return imported;
}

function created(tree: SessionTree): readonly ImportedSession[] {
  const { session, messages, children } = tree;
  return [
    { id: session.id, outcome: "new", messages: messages.length },
    ...children.flatMap(created),
  ];
}

async function isStored({ db }: Tx, id: string): Promise<boolean> {
  const found = await db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", id)
    .executeTakeFirst();
  return found !== undefined;
}

async function continueOne(tx: Tx, tree: SessionTree): Promise<ImportedSession> {
  await lockSession(tx, tree.session.id);
  const { missing, ...imported } = await comparedOne(tx, tree);
  if (imported.outcome === "added") {
    await append(tx, tree, missing);
  }
  return imported;
}

/** Returns what `continueImport` would do. */
export const previewImport: Operation<
  { readonly tree: SessionTree },
  readonly ImportedSession[]
> = async (tx, { tree }) => {
  if (!(await isStored(tx, tree.session.id))) {
    return created(tree);
  }
  const { missing: _, ...imported } = await comparedOne(tx, tree);
  const below: ImportedSession[] = [];
  for (const child of tree.children) {
    below.push(...(await previewImport(tx, { tree: child })));
  }
  return [imported, ...below];
};

interface Compared extends ImportedSession {
  readonly missing: readonly PortableMessage[];
}

async function comparedOne(tx: Tx, tree: SessionTree): Promise<Compared> {
  const { id } = tree.session;
  const stored = await tx.db
    .selectFrom("messages")
    .select(["message_id", "content", "archived"])
    .where("session_id", "=", id)
    .orderBy("seq")
    .execute();
  const ids = new Set(stored.map(({ message_id }) => message_id));
  const missing = tree.messages.filter(({ message_id }) => !ids.has(message_id));
  if (missing.length === 0) {
    return { id, outcome: "present", messages: 0, missing };
  }
  const isBeginning = stored.every((row, at) => {
    const message = tree.messages[at];
    return (
      message?.message_id === row.message_id &&
      message.content === row.content &&
      row.archived === 0
    );
  });
  const outcome = isBeginning && (await isUntouched(tx, id)) ? "added" : "kept";
  return { id, outcome, messages: missing.length, missing };
}

/** True if the session is as it was imported. */
async function isUntouched({ db }: Tx, id: string): Promise<boolean> {
  const session = await db
    .selectFrom("sessions")
    .select(["state", "thread_suffix", "exchange_count"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return session.state === "active" && session.thread_suffix === 0 && session.exchange_count === 0;
}

async function append(
  tx: Tx,
  { session, threads }: SessionTree,
  missing: readonly PortableMessage[],
): Promise<void> {
  const { id, last_seq, last_message_at, title, total_output_tokens } = session;
  for (const batch of batches(missing)) {
    await tx.db
      .insertInto("messages")
      .values(batch.map((message) => messageRow(id, message)))
      .execute();
  }
  const replaced = await tx.db
    .selectFrom("threads")
    .select("id")
    .where("thread_id", "=", threadId(id, 0))
    .execute();
  await deleteThreads(
    tx,
    replaced.map((thread) => thread.id),
  );
  for (const thread of threads) {
    await writeSessionThread(tx, id, thread);
  }
  await tx.db
    .updateTable("sessions")
    .set(({ fn, val }) => ({
      last_seq,
      last_message_at,
      total_output_tokens,
      title: fn.coalesce("title", val(title)),
      ...tx.dialect.changeNumber,
    }))
    .where("id", "=", id)
    .execute();
  tx.touch(id);
}
