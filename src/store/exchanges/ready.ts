import { sql } from "kysely";

import type { AskedBy } from "../../core/exchanges.ts";
import { type Principal, storedSender } from "../../core/principal.ts";
import type { Dialect } from "../engines/dialect.ts";
import { isPending } from "../messages/read.ts";
import type { Operation, Tx } from "../store.ts";
import type { RunningRecord } from "./records.ts";

/** For an UPDATE of `sessions` after the records have changed: see `ready_at` in `schema.ts`. */
export function readyAt(dialect: Dialect) {
  return sql<string | null>`case
    when state = 'active' and parent_call_id is null and (
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

/** For an order: what has begun is continued before what is queued and has not. */
export const BEGUN_FIRST = sql<number>`case when begun_at is null then 1 else 0 end`;

/** An exchange that is still queued, as it was read. */
export interface QueuedReference {
  readonly session_id: string;
  readonly n: number;
  readonly revision: number;
}

/** A session whose first exchange that has not ended is queued. */
export interface ReadySession {
  readonly id: string;
  readonly ready_at: string;
  readonly repo_path: string | null;
  readonly agent: string | null;
  readonly thread_suffix: number;
  /** False if a transaction that has not ended yet may still add a session before this one. */
  readonly is_settled: boolean;
}

export type ReadyPosition = Pick<ReadySession, "id" | "ready_at">;

/** After this time a commit can be seen that was made when its session became ready. */
const SETTLED_MS = 5000;

/** Sessions that wait for a node, the one that waits longest first. */
export const readReady: Operation<
  { readonly limit: number; readonly after: ReadyPosition | null },
  readonly ReadySession[]
> = async (tx, { limit, after }) => {
  const rows = await tx.db
    .selectFrom("sessions")
    .select(["id", "repo_path", "agent", "thread_suffix"])
    .select(({ eb, ref }) => [
      ref("ready_at").$notNull().as("ready_at"),
      eb("ready_at", "<", tx.dialect.now(-SETTLED_MS)).as("is_settled"),
    ])
    .where("ready_at", "is not", null)
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("ready_at", "id"), ">", tuple(after?.ready_at ?? "", after?.id ?? "")),
      ),
    )
    .orderBy("ready_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, is_settled: Boolean(row.is_settled) }));
};

/** A queued exchange that is to be run, without its session. */
export type ClaimedExchange = Omit<QueuedReference, "session_id">;

/** A queued exchange that a node may take up. */
export interface QueuedExchange extends QueuedReference {
  /** Null if it continues what was interrupted, or hands over what is pending. */
  readonly content: string | null;
  readonly principal: Principal;
  readonly asked_by: AskedBy;
}

/** The exchange that runs next in a session; null if none waits, or another one has not ended. */
export const readNextQueued: Operation<
  { readonly session_id: string },
  QueuedExchange | null
> = async (tx, { session_id }) => {
  const [first] = await tx.db
    .selectFrom("exchanges")
    .innerJoin("sessions", "sessions.id", "exchanges.session_id")
    .select([
      "session_id",
      "n",
      "revision",
      "exchanges.state",
      "content",
      "exchanges.origin",
      "exchanges.authenticated",
      "asked_by",
    ])
    .where("session_id", "=", session_id)
    .where("exchanges.ended_at", "is", null)
    .where("ready_at", "is not", null)
    // while somebody compacts or repairs it, it cannot be taken
    .where(({ eb, or }) =>
      or([
        eb("lease_owner", "is", null),
        eb("lease_expires_at", "is", null),
        eb("lease_expires_at", "<=", tx.dialect.now()),
      ]),
    )
    .orderBy(BEGUN_FIRST)
    .orderBy("n")
    .limit(1)
    .execute();
  if (first?.state !== "queued") {
    return null;
  }
  const { state: _, origin, authenticated, ...queued } = first;
  return {
    ...queued,
    principal: storedSender(origin, authenticated),
  };
};

/**
 * Marks a queued exchange as running under a lease, in the transaction that takes its message out.
 * Null if it is not queued any more, was changed since it was read, or may not run yet because
 * another one has begun.
 */
export async function claimQueued(
  tx: Tx,
  claim: QueuedReference & {
    readonly epoch: number;
    readonly model: string | null;
    readonly persona_name: string | null;
  },
): Promise<RunningRecord | null> {
  const before = (name: string) =>
    sql<number>`(select ${sql.ref(`sessions.${name}`)} from sessions where sessions.id = exchanges.session_id)`;
  const next_seq = sql<number>`(select last_seq + 1 from sessions where sessions.id = exchanges.session_id)`;
  const pending_seq = tx.db
    .selectFrom("messages")
    .select(({ fn }) => fn.min("seq").as("seq"))
    .where("messages.session_id", "=", claim.session_id)
    .where(isPending);
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
      first_seq: eb.fn.coalesce("first_seq", pending_seq, next_seq),
      content: null,
      stop_asked_at: null,
    }))
    .where("session_id", "=", claim.session_id)
    .where("n", "=", claim.n)
    .where("revision", "=", claim.revision)
    .where("state", "=", "queued")
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("sessions")
          .select("sessions.id")
          .where("sessions.id", "=", claim.session_id)
          .where("ready_at", "is not", null),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("exchanges as begun")
            .select("begun.n")
            .where("begun.session_id", "=", claim.session_id)
            .where("begun.ended_at", "is", null)
            .where("begun.begun_at", "is not", null)
            .where("begun.n", "!=", claim.n),
        ),
      ),
    )
    .returning(["n", "id", "input_before", "output_before"])
    .executeTakeFirst();
  return row ?? null;
}
