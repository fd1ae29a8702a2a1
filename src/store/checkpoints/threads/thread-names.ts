import type { IdPage } from "../../records/sessions/trees/walk.ts";
import type { Operation } from "../../store.ts";

/** Which checkpoint of a thread. */
export interface CheckpointName {
  readonly ns: string;
  readonly checkpoint_id: string;
}

export function isSameName(one: CheckpointName, other: CheckpointName | undefined): boolean {
  return one.ns === other?.ns && one.checkpoint_id === other.checkpoint_id;
}

/** Every checkpoint of a thread, the one stored first is first; none for one that does not exist. */
export const readThreadNames: Operation<string, readonly CheckpointName[]> = async (tx, threadId) =>
  tx.db
    .selectFrom("checkpoints")
    .innerJoin("threads", "threads.id", "checkpoints.thread")
    .select(["ns", "checkpoint_id"])
    .where("thread_id", "=", threadId)
    .orderBy("checkpoints.id")
    .execute();

/** Ids of threads, in ascending order. */
export const readThreadIds: Operation<IdPage, readonly { readonly id: string }[]> = (
  { db },
  { after, limit },
) =>
  db
    .selectFrom("threads")
    .select("thread_id as id")
    .where("thread_id", ">", after)
    .orderBy("thread_id")
    .limit(limit)
    .execute();
