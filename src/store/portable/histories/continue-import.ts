import { batches } from "../../records/threads/bodies.ts";
import { holdFamilies } from "../../records/threads/families.ts";
import { indexAgain } from "../../records/search/forget.ts";
import { lockSession } from "../../records/sessions/lock.ts";
import { rootOf } from "../../records/sessions/tree-ids.ts";
import { newId } from "../../../core/ids.ts";
import type { Operation, Tx } from "../../store.ts";
import type { PortableMessage, SessionTree } from "../export-schema.ts";
import { messageRow, writeSessionTree, writeTree } from "../write-tree.ts";
import { extendThread } from "./extend-thread.ts";

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
  const { missing, last, ...imported } = await comparedOne(tx, tree);
  if (imported.outcome === "added") {
    await rewrite(tx, tree.session.id, last);
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
  const { missing: _missing, last: _last, ...imported } = await comparedOne(tx, tree);
  const below: ImportedSession[] = [];
  for (const child of tree.children) {
    below.push(...(await previewImport(tx, { tree: child })));
  }
  return [imported, ...below];
};

interface Compared extends ImportedSession {
  readonly missing: readonly PortableMessage[];
  /** The last stored message as its program has it since; null if that is the same. */
  readonly last: PortableMessage | null;
}

async function comparedOne(tx: Tx, { session, messages }: SessionTree): Promise<Compared> {
  const { id } = session;
  const stored = await tx.db
    .selectFrom("messages")
    .select(["message_id", "content", "tool_calls", "archived", "checkpointed"])
    .where("session_id", "=", id)
    .orderBy("seq")
    .execute();
  const isSame = stored.map((row, at) => {
    const message = messages[at];
    return message !== undefined && row.archived === 0 && isRow(messageRow(id, message), row);
  });
  const isAppended = stored.length <= messages.length && isSame.slice(0, -1).every(Boolean);
  const isWhole = isSame.at(-1) ?? true;
  // a message that waits was written here
  const isImported = stored.at(-1)?.checkpointed !== 0;
  const hasMore = stored.length < messages.length || !isWhole;
  if (isAppended && isImported && hasMore && (await isUntouched(tx, id))) {
    const missing = messages.slice(stored.length);
    // a program writes an answer and its calls one after the other
    const last = isWhole ? null : (messages[stored.length - 1] ?? null);
    const count = missing.length + (last === null ? 0 : 1);
    return { id, outcome: "added", messages: count, missing, last };
  }
  const ids = new Set(stored.map(({ message_id }) => message_id));
  const missing = messages.filter(({ message_id }) => !ids.has(message_id));
  const outcome = missing.length === 0 ? "present" : "kept";
  return { id, outcome, messages: missing.length, missing, last: null };
}

type StoredRow = Pick<ReturnType<typeof messageRow>, "message_id" | "content" | "tool_calls">;

function isRow(row: StoredRow, stored: StoredRow): boolean {
  return (
    row.message_id === stored.message_id &&
    row.content === stored.content &&
    row.tool_calls === stored.tool_calls
  );
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

async function rewrite(tx: Tx, id: string, message: PortableMessage | null): Promise<void> {
  if (message === null) {
    return;
  }
  await tx.db
    .updateTable("messages")
    .set(messageRow(id, message))
    .where("session_id", "=", id)
    .where("seq", "=", message.seq)
    .execute();
  await indexAgain(tx, id, message.seq);
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
  for (const thread of threads) {
    await extendThread(tx, { session_id: id, thread });
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
