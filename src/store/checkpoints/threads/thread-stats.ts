import { sql } from "kysely";

import type { Operation, Tx } from "../../store.ts";
import { isDamage, refusingDamage } from "../damage.ts";
import {
  requireFreeThread,
  sessionOfThread,
  threadNotFound,
} from "../../records/threads/free-threads.ts";
import { messageListOf } from "../head-mark.ts";
import { isInterrupted, readBranchHeads } from "./interrupted.ts";
import { findThread } from "../threads.ts";
import { parseChannels } from "../value.ts";

/** How large a thread is and what state it is in. */
export interface ThreadStats {
  readonly thread_id: string;
  /** The session that it belongs to; null for a free thread. */
  readonly session_id: string | null;
  /** Checkpoints of the graph and its subgraphs. */
  readonly checkpoints: number;
  /** Messages in its latest checkpoint. */
  readonly messages: number;
  /** UTF-8 bytes of the texts that are stored of it, without indexes and what surrounds rows. */
  readonly bytes: number;
  /** Checkpoints of the graph that no other one follows: 1, and one for each fork. */
  readonly branches: number;
  /** True if a branch waits for an answer, or has tasks that have not run. */
  readonly interrupted: boolean;
  /** By the clock of the program that made them; null without a checkpoint. */
  readonly first_checkpoint_at: string | null;
  readonly last_checkpoint_at: string | null;
}

/**
 * Reads the rows of the thread's checkpoints, but no messages.
 *
 * Error codes: `thread_not_found`; `database_corrupt`.
 */
export const readThreadStats: Operation<{ readonly thread_id: string }, ThreadStats> = (
  tx,
  { thread_id },
) => refusingDamage(() => statsOf(tx, thread_id));

async function statsOf(tx: Tx, thread_id: string): Promise<ThreadStats> {
  const thread = await findThread(tx, thread_id);
  if (thread === null) {
    throw threadNotFound();
  }
  const heads = await readBranchHeads(tx, thread);
  const first = await checkpointAt(tx, { thread, end: "asc" });
  const last = await checkpointAt(tx, { thread, end: "desc" });
  return {
    thread_id,
    session_id: await sessionOfThread(tx, thread_id),
    messages: last === undefined ? 0 : (messageListOf(parseChannels(last.channels))?.length ?? 0),
    ...(await sizeOf(tx, thread)),
    branches: heads.length,
    interrupted: await isInterrupted(tx, { thread, heads }),
    first_checkpoint_at: first?.ts ?? null,
    last_checkpoint_at: last?.ts ?? null,
  };
}

/** As `readThreadStats`, of a free thread only. Error codes: also `thread_of_session`. */
export const readFreeStats: typeof readThreadStats = async (tx, input) => {
  await requireFreeThread(tx, input.thread_id, "change");
  return readThreadStats(tx, input);
};

/** A thread of which nothing else can be read. */
export interface DamagedThread {
  readonly thread_id: string;
  readonly damaged: true;
}

/** As `readFreeStats`, for a damaged thread too: it can be deleted. */
export const readDeletable: Operation<
  { readonly thread_id: string },
  ThreadStats | DamagedThread
> = async (tx, input) => {
  try {
    return await readFreeStats(tx, input);
  } catch (error) {
    if (isDamage(error)) {
      return { thread_id: input.thread_id, damaged: true };
    }
    throw error;
  }
};

/** The first or last root checkpoint. */
function checkpointAt(tx: Tx, { thread, end }: { thread: number; end: "asc" | "desc" }) {
  return tx.db
    .selectFrom("checkpoints")
    .select(["ts", "channels"])
    .where("thread", "=", thread)
    .where("ns", "=", "")
    .orderBy("id", end)
    .limit(1)
    .executeTakeFirst();
}

async function sizeOf(tx: Tx, thread: number): Promise<Pick<ThreadStats, "checkpoints" | "bytes">> {
  const checkpoints = await tx.db
    .selectFrom("checkpoints")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .select(bytesOf("versions", "channels", "metadata"))
    .where("thread", "=", thread)
    .executeTakeFirstOrThrow();
  const writes = await tx.db
    .selectFrom("checkpoint_writes")
    .select(bytesOf("writes"))
    .where("thread", "=", thread)
    .executeTakeFirstOrThrow();
  const bodies = await tx.db
    .selectFrom("checkpoint_bodies")
    .select(bytesOf("body"))
    .where("thread", "=", thread)
    .executeTakeFirstOrThrow();
  return {
    checkpoints: checkpoints.count,
    bytes: checkpoints.bytes + writes.bytes + bodies.bytes,
  };
}

/** How many bytes the columns of all rows have; 0 without a row. */
export function bytesOf(...columns: readonly string[]) {
  const all = columns.map((column) => sql`octet_length(${sql.ref(column)})`);
  return sql<number>`coalesce(sum(${sql.join(all, sql` + `)}), 0)`.as("bytes");
}
