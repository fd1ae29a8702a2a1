import { isDamage } from "../checkpoints/damage.ts";
import { chainOf, markHash, messageListOf } from "../checkpoints/head-mark.ts";
import { type CheckpointPage, readCheckpoints } from "../checkpoints/read.ts";
import type { BodyRow } from "../tables/checkpoints.ts";
import { refsOf } from "../checkpoints/value.ts";
import { bodiesOf } from "../records/threads/families.ts";
import type { Operation, Tx } from "../store.ts";
import { type Mirror, type MirrorState, readMirror, type ThreadHead } from "./mirror.ts";

export interface ReadVerification {
  readonly session_id: string;
  /** True to read also what the threads have kept of messages that left their channel. */
  readonly removed: boolean;
}

/** Thread with what its latest checkpoint says. */
export interface VerifiedThread {
  readonly thread_id: string;
  readonly suffix: number;
  /** When the checkpoint was made. */
  readonly ts: string;
  /** Null for a checkpoint that is sound as far as its rows say. */
  readonly problem: HeadProblem | null;
  /** The messages in order; none if `problem` is set. */
  readonly messages: readonly BodyRow[];
  /** The checkpoint as read, with the hash that the text of its shape has to have. */
  readonly head: { readonly page: CheckpointPage; readonly shape_hash: string } | null;
  /**
   * Bodies, messages among them, that are not in `messages`, oldest first; null if not asked for.
   */
  readonly others: readonly BodyRow[] | null;
}

/** A session's mirror and the checkpoints it has to agree with, in one consistent state. */
export interface Verification extends MirrorState {
  readonly threads: readonly VerifiedThread[];
  /** Ids of threads that had a checkpoint and have none. */
  readonly lost: readonly string[];
}

/**
 * Reads all that is needed to compare a session's mirror with its checkpoints, in one state, even
 * while an exchange is running. A damaged checkpoint is an answer, not an error.
 *
 * Error codes: `session_not_found`.
 */
export const readVerification: Operation<ReadVerification, Mirror & Verification> = async (
  tx,
  { session_id, removed },
) => {
  const mirror = await readMirror(tx, session_id);
  const threads: VerifiedThread[] = [];
  for (const head of mirror.heads) {
    const read = await readHead(tx, head);
    const { thread_id, suffix, ts } = head;
    const others = removed ? await readOthers(tx, head, read.messages) : null;
    threads.push({ thread_id, suffix, ts, ...read, others });
  }
  return { ...mirror, threads };
};

async function readHead(
  tx: Tx,
  head: ThreadHead,
): Promise<Pick<VerifiedThread, "problem" | "messages" | "head">> {
  try {
    const { thread_id } = head;
    const page = await readCheckpoints(tx, { thread_id, ns: "", limit: 1, have: new Map() });
    const messages = wholeMessages(page, head);
    if (messages !== null) {
      const { hash: shape_hash } = await tx.db
        .selectFrom("checkpoint_bodies")
        .select("hash")
        .where("id", "=", head.shape)
        .executeTakeFirstOrThrow();
      const problem = headProblem(head, messages);
      return { problem, messages: problem === null ? messages : [], head: { page, shape_hash } };
    }
  } catch (error) {
    if (!isDamage(error)) {
      throw error;
    }
  }
  return { problem: "unreadable", messages: [], head: null };
}

/** Reading joins rows that refer to each other, so what is gone is silently not there. */
function wholeMessages(page: CheckpointPage, head: ThreadHead): readonly BodyRow[] | null {
  const [read] = page.checkpoints;
  if (read?.row !== head.row || !isWhole(page)) {
    return null;
  }
  const version = messageListOf(read.channels);
  if (version === null) {
    return [];
  }
  const { list, length } = version;
  return page.lists.find((tail) => tail.list === list)?.items.slice(0, length) ?? null;
}

function isWhole({ checkpoints, bodies, lists }: CheckpointPage): boolean {
  const found = new Set(bodies.map((body) => body.id));
  const values = checkpoints.flatMap(({ channels, metadata, writes, parent_writes }) => [
    metadata,
    ...Object.values(channels),
    ...[...writes, ...parent_writes].flatMap((task) => task.writes.map(([, , value]) => value)),
  ]);
  return (
    lists.every((tail) => tail.items.length === tail.length) &&
    values.every((value) => refsOf(value).bodies.every((body) => found.has(body)))
  );
}

async function readOthers(
  tx: Tx,
  { thread }: ThreadHead,
  messages: readonly BodyRow[],
): Promise<BodyRow[]> {
  const present = new Set(messages.map((body) => body.id));
  const bodies = await bodiesOf(tx, thread)
    .select(["checkpoint_bodies.id", "hash", "body"])
    // a message's body is an array; most other texts are objects
    .where("body", "like", "[%")
    .orderBy("checkpoint_bodies.id")
    .execute();
  return bodies.filter((body) => !present.has(body.id));
}

/** Error of the latest checkpoint of a thread. */
export type HeadProblem =
  /** Its rows do not fit together. */
  | "unreadable"
  /** A later one was stored and is gone. */
  | "lost"
  /** Differs from the one that was stored last, or has changed since. */
  | "changed";

/** Compares the latest checkpoint that can be read with the thread's mark. */
function headProblem(head: ThreadHead, messages: readonly BodyRow[]): HeadProblem | null {
  if (head.head_row > head.row) {
    return "lost";
  }
  const chain = chainOf(messages.map(({ hash }) => hash));
  const isMarked =
    head.head_row === head.row &&
    head.head_length === chain.length &&
    head.head_hash === markHash(head.thread_id, { chain, columns: head });
  return isMarked ? null : "changed";
}
