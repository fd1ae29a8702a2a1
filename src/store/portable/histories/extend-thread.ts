import { threadId } from "../../../core/threads.ts";
import { messageListOf } from "../../checkpoints/head-mark.ts";
import { hashesOf, keepSequence } from "../../checkpoints/lists.ts";
import { markPruned } from "../../checkpoints/prune.ts";
import { markLatest } from "../../checkpoints/threads.ts";
import { at, type ListVersion, parseChannels } from "../../checkpoints/value.ts";
import { idsOf, keepBodies, textHash } from "../../records/threads/bodies.ts";
import { deleteThreads } from "../../records/threads/families.ts";
import type { Tx } from "../../store.ts";
import type { PortableThread } from "../portable-threads.ts";
import { writeCheckpoints, writeSessionThread } from "../write-thread.ts";

interface ExtendThread {
  readonly session_id: string;
  /** Thread with one list, to which all its checkpoints refer. */
  readonly thread: PortableThread;
}

/**
 * Brings the thread of an imported session to what its history has. The rows of the messages that it begins with stay, as
 * forks refer to them; its checkpoints are those of the given thread. The families and the session are held.
 */
export async function extendThread(tx: Tx, input: ExtendThread): Promise<void> {
  const { session_id, thread } = input;
  const thread_id = threadId(session_id, thread.suffix);
  const stored = await storedThread(tx, thread_id);
  const texts = thread.lists.flatMap(({ items }) => items.map((body) => at(thread.bodies, body)));
  const known = stored?.messages ?? null;
  if (stored === null || known === null || !(await isBeginning(tx, known, texts))) {
    await deleteThreads(tx, stored === null ? [] : [stored.id]);
    await writeSessionThread(tx, session_id, thread);
    return;
  }
  await addMessages(tx, { thread, id: stored.id, known, rest: texts.slice(known.length) });
  await tx.rows(markPruned, { thread: stored.id });
  await markLatest(tx, { thread: stored.id, thread_id });
}

async function isBeginning(tx: Tx, known: ListVersion, texts: readonly string[]): Promise<boolean> {
  const hashes = await hashesOf(tx, known);
  return (
    hashes.length <= texts.length &&
    hashes.every((hash, index) => hash === textHash(at(texts, index)))
  );
}

interface Stored {
  readonly id: number;
  /** Messages of its latest checkpoint. */
  readonly messages: ListVersion | null;
}

async function storedThread({ db }: Tx, thread_id: string): Promise<Stored | null> {
  const row = await db
    .selectFrom("threads")
    .leftJoin("checkpoints", "checkpoints.id", "threads.head_row")
    .select(["threads.id", "channels"])
    .where("thread_id", "=", thread_id)
    .executeTakeFirst();
  if (row === undefined) {
    return null;
  }
  const messages = row.channels === null ? null : messageListOf(parseChannels(row.channels));
  return { id: row.id, messages };
}

interface Added {
  readonly thread: PortableThread;
  readonly id: number;
  readonly known: ListVersion;
  /** Bodies of the messages after the known ones. */
  readonly rest: readonly string[];
}

async function addMessages(tx: Tx, { thread, id, known, rest }: Added): Promise<void> {
  const shapes = [...new Set(thread.checkpoints.map(({ shape }) => shape))];
  const bodies = [...rest, ...shapes.map((shape) => at(thread.bodies, shape))].map((text) => ({
    hash: textHash(text),
    text,
  }));
  const found = await idsOf(tx, { thread: id, bodies });
  const ids = await keepBodies(tx, { thread: id, bodies, found });
  const sequence = { known, rest: rest.map((_, index) => index) };
  const { list } = await keepSequence(tx, { thread: id, sequence, bodies: ids, grown: false });
  await tx.db.deleteFrom("checkpoints").where("thread", "=", id).execute();
  await writeCheckpoints(tx, {
    thread: id,
    structure: thread,
    ids: {
      body: (position) => at(ids, rest.length + shapes.indexOf(position)),
      list: (_, length) => (length <= known.length ? known.list : list),
    },
  });
}
