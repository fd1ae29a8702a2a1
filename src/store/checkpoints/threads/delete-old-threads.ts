import { sql } from "kysely";

import { isRepriseError } from "../../../core/errors.ts";
import type { Operation, Tx } from "../../store.ts";
import { isDamage } from "../damage.ts";
import { sessionInThreadId } from "../../records/threads/free-threads.ts";
import { isInterrupted, readBranchHeads } from "./interrupted.ts";
import { holdThread } from "../threads.ts";

export interface OldThreads {
  /** Milliseconds since the latest checkpoint, by the database's clock. */
  readonly older_than_ms: number;
  /** True to take also those of which a branch waits for an answer or has tasks to run. */
  readonly interrupted: boolean;
}

export interface OldThreadPage {
  readonly thread_ids: readonly string[];
  /** Threads that are damaged, so that it is unknown whether they are interrupted. */
  readonly damaged: readonly string[];
  /** The `after` of the next page; null on the last one. */
  readonly next: number | null;
}

export interface ReadOldThreads extends OldThreads {
  /** The `next` of the page before; 0 for the first page. */
  readonly after: number;
}

/** Threads of a page: one transaction deletes them, and others who write wait so long. */
const PAGE = 50;

/**
 * Free threads whose latest checkpoint, of whatever subgraph, is older. One without a checkpoint has no age.
 */
export const readOldThreads: Operation<ReadOldThreads, OldThreadPage> = async (tx, input) => {
  const found = await tx.db
    .selectFrom("threads")
    .leftJoin("sessions", (join) => join.on("sessions.id", "=", sessionInThreadId()))
    .select(["threads.id", "thread_id"])
    .where("sessions.id", "is", null)
    .where("threads.id", ">", input.after)
    .where(latestRoot(), "<", tx.dialect.now(-input.older_than_ms))
    .orderBy("threads.id")
    .limit(PAGE)
    .execute();
  const thread_ids: string[] = [];
  const damaged: string[] = [];
  for (const { id, thread_id } of found) {
    const state = await stateOf(tx, { thread: id, ...input });
    if (state !== "kept") {
      (state === "old" ? thread_ids : damaged).push(thread_id);
    }
  }
  return { thread_ids, damaged, next: found.length < PAGE ? null : (found.at(-1)?.id ?? null) };
};

export interface DeleteOldThreads extends OldThreads {
  readonly thread_ids: readonly string[];
}

/**
 * Deletes those of the threads that are still free, old and, unless `interrupted`, not interrupted;
 * their ids.
 */
export const deleteOldThreads: Operation<DeleteOldThreads, string[]> = async (tx, input) => {
  const deleted: string[] = [];
  for (const thread_id of input.thread_ids) {
    const thread = await holdFreeThread(tx, thread_id);
    if (thread !== null && (await stateOf(tx, { thread, ...input })) === "old") {
      await tx.db.deleteFrom("threads").where("id", "=", thread).execute();
      deleted.push(thread_id);
    }
  }
  return deleted;
};

/** Null if it was deleted since, or became a session's. */
async function holdFreeThread(tx: Tx, thread_id: string): Promise<number | null> {
  try {
    return (await holdThread(tx, { thread_id, fence: null })).id;
  } catch (error) {
    if (isRepriseError(error, "lease_required")) {
      return null;
    }
    throw error;
  }
}

function latestRoot() {
  return sql<string>`(select ts from checkpoints
    where thread = threads.id and ns = '' order by checkpoints.id desc limit 1)`;
}

type OldThread = OldThreads & { readonly thread: number };

async function stateOf(tx: Tx, thread: OldThread): Promise<"old" | "kept" | "damaged"> {
  try {
    return (await isOld(tx, thread)) ? "old" : "kept";
  } catch (error) {
    if (isDamage(error)) {
      return "damaged";
    }
    throw error;
  }
}

async function isOld(tx: Tx, { thread, older_than_ms, interrupted }: OldThread): Promise<boolean> {
  const young = await tx.db
    .selectFrom("checkpoints")
    .select("id")
    .where("thread", "=", thread)
    .where("ts", ">=", tx.dialect.now(-older_than_ms))
    .limit(1)
    .executeTakeFirst();
  if (young !== undefined) {
    return false;
  }
  const heads = interrupted ? [] : await readBranchHeads(tx, thread);
  return !(await isInterrupted(tx, { thread, heads }));
}
