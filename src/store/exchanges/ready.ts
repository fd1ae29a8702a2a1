import { sql } from "kysely";

import type { AskedBy } from "../../core/exchanges.ts";
import type { Caller } from "../../core/origins.ts";
import type { Dialect } from "../engines/dialect.ts";
import type { Operation, Tx } from "../store.ts";

/** For an UPDATE of `sessions` after the records have changed: see `ready_at` in `schema.ts`. */
export function readyAt(dialect: Dialect) {
  return sql<string | null>`case
    when state = 'active' and parent_session_id is null and (
      select max(case when open.state = 'queued' then 1 else 2 end) from exchanges as open
      where open.session_id = sessions.id and open.ended_at is null
    ) = 1 then coalesce(ready_at, ${dialect.now()}) end`;
}

export async function refreshReady(tx: Tx, id: string): Promise<void> {
  await tx.db
    .updateTable("sessions")
    .set({ ready_at: readyAt(tx.dialect) })
    .where("id", "=", id)
    .execute();
  tx.touch(id);
}

/** An exchange that is still queued, as it was read. */
export interface QueuedReference {
  readonly session_id: string;
  readonly n: number;
  readonly revision: number;
}

/** A queued exchange that is to be run, without its session. */
export interface ClaimedExchange extends Omit<QueuedReference, "session_id"> {
  /** True if it was given back, interrupted, or waited for a person. */
  readonly has_begun: boolean;
}

/** A queued exchange that a node may take up. */
export interface ReadyExchange extends QueuedReference, ClaimedExchange {
  /** Null if it continues what was interrupted, or hands over what is pending. */
  readonly content: string | null;
  readonly caller: Caller;
  readonly asked_by: AskedBy;
  readonly repo_path: string | null;
  readonly attempts: number;
}

/** The first exchanges of sessions that wait for a node, the one that waits longest first. */
export const readReady: Operation<
  { readonly limit: number; readonly except: readonly string[] },
  readonly ReadyExchange[]
> = async (tx, { limit, except }) => {
  const rows = await tx.db
    .selectFrom("sessions")
    .innerJoin("exchanges", (join) =>
      join
        .onRef("exchanges.session_id", "=", "sessions.id")
        .on("exchanges.ended_at", "is", null)
        .on("exchanges.state", "=", "queued"),
    )
    .select([
      "exchanges.session_id",
      "exchanges.n",
      "exchanges.revision",
      "exchanges.content",
      "exchanges.origin",
      "exchanges.authenticated",
      "exchanges.asked_by",
      "exchanges.attempts",
      "exchanges.begun_at",
      "sessions.repo_path",
    ])
    .where("sessions.ready_at", "is not", null)
    .where(({ eb, not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("exchanges as before")
            .select(eb.lit(1).as("one"))
            .whereRef("before.session_id", "=", "sessions.id")
            .where("before.ended_at", "is", null)
            .whereRef("before.n", "<", "exchanges.n"),
        ),
      ),
    )
    .$if(except.length > 0, (query) => query.where("sessions.id", "not in", except))
    .orderBy("sessions.ready_at")
    .limit(limit)
    .execute();
  return rows.map(({ origin, authenticated, begun_at, ...row }) => ({
    ...row,
    has_begun: begun_at !== null,
    caller: { origin: origin ?? "http", authenticated: authenticated === 1 },
  }));
};

/**
 * Marks a queued exchange as running under a lease, in the transaction that takes its message out.
 * False if it is not queued any more, or was changed since it was read.
 */
export async function claimQueued(
  tx: Tx,
  claim: QueuedReference & {
    readonly epoch: number;
    readonly model: string | null;
    readonly persona_name: string | null;
  },
): Promise<{ readonly n: number; readonly id: string } | null> {
  const before = (name: string) =>
    sql<number>`(select ${sql.ref(`sessions.${name}`)} from sessions where sessions.id = exchanges.session_id)`;
  const next_seq = sql<number>`(select last_seq + 1 from sessions where sessions.id = exchanges.session_id)`;
  const row = await tx.db
    .updateTable("exchanges")
    .set((eb) => ({
      state: "running",
      revision: eb("revision", "+", 1),
      epoch: claim.epoch,
      model: claim.model,
      persona_name: claim.persona_name,
      thread_suffix: before("thread_suffix"),
      input_before: eb.fn.coalesce("input_before", before("total_input_tokens")),
      output_before: eb.fn.coalesce("output_before", before("total_output_tokens")),
      begun_at: eb.fn.coalesce("begun_at", tx.dialect.now()),
      first_seq: eb.fn.coalesce("first_seq", next_seq),
      content: null,
      stop_asked_at: null,
    }))
    .where("session_id", "=", claim.session_id)
    .where("n", "=", claim.n)
    .where("revision", "=", claim.revision)
    .where("state", "=", "queued")
    .returning(["n", "id"])
    .executeTakeFirst();
  return row ?? null;
}
