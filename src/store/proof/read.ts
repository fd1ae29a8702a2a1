import { NoResultError } from "kysely";

import { type BodyRow, type CheckpointPage, readCheckpoints } from "../checkpoints/read.ts";
import { refsOf } from "../checkpoints/value.ts";
import type { Operation, Tx } from "../store.ts";
import { type Mirror, readMirror, type ThreadHead } from "./mirror.ts";

export interface ReadProof {
  readonly session_id: string;
  /** True to read also what the threads have kept of messages that left their channel. */
  readonly removed: boolean;
}

/** What a thread's latest checkpoint says. */
export interface ThreadProof {
  readonly thread_id: string;
  readonly suffix: number;
  /** When the checkpoint was made. */
  readonly ts: string;
  /** The messages in order; null where the checkpoint is damaged, so that nobody can tell. */
  readonly messages: readonly BodyRow[] | null;
  /** Bodies, messages among them, that are not in `messages`, oldest first; empty if not asked for. */
  readonly others: readonly BodyRow[];
}

/** A session's mirror and the checkpoints it has to agree with, of one moment. */
export interface Proof extends Mirror {
  readonly threads: readonly ThreadProof[];
}

/**
 * Reads all that is needed to compare a session's mirror with its checkpoints, in one state, even
 * while an exchange is at work. A damaged checkpoint is an answer, not an error.
 *
 * Error codes: `session_not_found`.
 */
export const readProof: Operation<ReadProof, Proof> = async (tx, { session_id, removed }) => {
  const mirror = await readMirror(tx, session_id);
  const threads: ThreadProof[] = [];
  for (const head of mirror.heads) {
    const messages = await readMessages(tx, head);
    const { thread_id, suffix, ts } = head;
    const others = removed ? await readOthers(tx, head, messages ?? []) : [];
    threads.push({ thread_id, suffix, ts, messages, others });
  }
  return { ...mirror, threads };
};

/** The channel that the mirror shows. */
const MESSAGES = "messages";

async function readMessages(tx: Tx, head: ThreadHead): Promise<readonly BodyRow[] | null> {
  try {
    const page = await readCheckpoints(tx, {
      thread_id: head.thread_id,
      ns: "",
      limit: 1,
      have: new Map(),
    });
    return wholeMessages(page, head);
  } catch (error) {
    if (isDamage(error)) {
      return null;
    }
    throw error;
  }
}

/** Reading joins rows that refer to each other, so what is gone is silently not there. */
function wholeMessages(page: CheckpointPage, head: ThreadHead): readonly BodyRow[] | null {
  const [read] = page.checkpoints;
  if (read?.row !== head.row || !isWhole(page)) {
    return null;
  }
  const value = read.channels[MESSAGES];
  if (value === undefined || !("l" in value)) {
    return [];
  }
  const [list, length] = value.l;
  return page.lists.find((tail) => tail.list === list)?.items.slice(0, length) ?? null;
}

function isWhole({ checkpoints, bodies, lists }: CheckpointPage): boolean {
  const found = new Set(bodies.map((body) => body.id));
  const values = checkpoints.flatMap(({ channels, metadata }) => [
    metadata,
    ...Object.values(channels),
  ]);
  return (
    lists.every((tail) => tail.items.length === tail.length) &&
    values.every((value) => refsOf(value).bodies.every((body) => found.has(body)))
  );
}

/** What reading a checkpoint throws whose rows do not fit together. Failures of the database pass. */
function isDamage(error: unknown): boolean {
  return (
    error instanceof SyntaxError ||
    error instanceof RangeError ||
    error instanceof TypeError ||
    error instanceof NoResultError
  );
}

async function readOthers(
  tx: Tx,
  { thread }: ThreadHead,
  messages: readonly BodyRow[],
): Promise<BodyRow[]> {
  const present = new Set(messages.map((body) => body.id));
  const bodies = await tx.db
    .selectFrom("checkpoint_bodies")
    .select(["id", "hash", "body"])
    .where("thread", "=", thread)
    // a message's body is an array; most other texts are objects
    .where("body", "like", "[%")
    .orderBy("id")
    .execute();
  return bodies.filter((body) => !present.has(body.id));
}
