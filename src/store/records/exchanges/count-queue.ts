import { sql } from "kysely";

import type { Operation } from "../../store.ts";

/** Length of what waits in all sessions: in their queues, or for a person. */
export interface QueueLength {
  /** Exchanges that are queued, without those that wait for their time. */
  readonly queued: number;
  /** Exchanges that wait for a person's answers. */
  readonly waiting: number;
  /** When the first queued one was queued, by the database's clock; null if none is. */
  readonly oldest: string | null;
  /** For how many milliseconds it has waited. */
  readonly oldest_ms: number;
  /** Processes that died with exchanges that have not ended. */
  readonly attempts: number;
}

/** Costs as much as there are open exchanges, however many records there are. */
export const countQueue: Operation<null, QueueLength> = async (tx) => {
  const isQueued = sql`state = 'queued' and (not_before is null or not_before <= ${tx.dialect.now()})`;
  const row = await tx.db
    .selectFrom("exchanges")
    .select([
      sql<number>`count(*) filter (where ${isQueued})`.as("queued"),
      sql<number>`count(*) filter (where state = 'waiting')`.as("waiting"),
      sql<
        string | null
      >`min(case when not_before > queued_at then not_before else queued_at end) filter (where ${isQueued})`.as(
        "oldest",
      ),
      sql<number>`cast(coalesce(sum(attempts), 0) as bigint)`.as("attempts"),
      tx.dialect.now().as("now"),
    ])
    .where("ended_at", "is", null)
    .executeTakeFirstOrThrow();
  const { now, ...counts } = row;
  const { oldest } = counts;
  const oldest_ms = oldest === null ? 0 : Math.max(0, Date.parse(now) - Date.parse(oldest));
  return { ...counts, oldest_ms };
};
