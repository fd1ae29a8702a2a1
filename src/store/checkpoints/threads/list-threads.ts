import type { Operation } from "../../store.ts";
import { sessionInThreadId } from "../../records/threads/free-threads.ts";

/** The position after a thread in the list: the next page begins there. */
export interface ThreadPosition {
  readonly head_row: number;
  readonly id: number;
}

export interface ListThreads {
  readonly limit: number;
  readonly after?: ThreadPosition | undefined;
  /** True to list the threads of sessions, too. */
  readonly sessions: boolean;
}

export interface ListedThread {
  readonly thread_id: string;
  /** The session that it belongs to; null for a free thread. */
  readonly session_id: string | null;
  /** Messages in its latest checkpoint. */
  readonly messages: number;
  /** When its latest checkpoint was made, by the clock of its program; null without one. */
  readonly last_checkpoint_at: string | null;
}

export interface ThreadPage {
  readonly threads: readonly ListedThread[];
  /** Where the next page begins; null on the last one. */
  readonly next: ThreadPosition | null;
}

/**
 * Threads, the one whose latest checkpoint was stored last first. All threads are sorted for each
 * page: an index would have to be written with each checkpoint.
 */
export const listThreads: Operation<ListThreads, ThreadPage> = async (tx, input) => {
  const { limit, after, sessions } = input;
  const page = tx.db
    .selectFrom("threads")
    .leftJoin("sessions", (join) => join.on("sessions.id", "=", sessionInThreadId()))
    .select(["threads.id", "thread_id", "head_row", "head_length", "sessions.id as session_id"])
    .$if(!sessions, (query) => query.where("sessions.id", "is", null))
    .$if(after !== undefined, (query) =>
      query.where(({ eb, and, or }) =>
        or([
          eb("head_row", "<", after?.head_row ?? 0),
          and([eb("head_row", "=", after?.head_row ?? 0), eb("threads.id", "<", after?.id ?? 0)]),
        ]),
      ),
    )
    .orderBy("head_row", "desc")
    .orderBy("threads.id", "desc")
    .limit(limit + 1);
  const found = await tx.db
    .selectFrom(page.as("page"))
    .select(["page.id", "thread_id", "head_row", "session_id", "head_length as messages"])
    .select(({ selectFrom }) =>
      selectFrom("checkpoints")
        .select("ts")
        .whereRef("thread", "=", "page.id")
        .where("ns", "=", "")
        .orderBy("checkpoints.id", "desc")
        .limit(1)
        .as("last_checkpoint_at"),
    )
    .orderBy("head_row", "desc")
    .orderBy("page.id", "desc")
    .execute();
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    threads: rows.map(({ id: _, head_row: __, ...thread }) => thread),
    next: last === undefined ? null : { head_row: last.head_row, id: last.id },
  };
};
