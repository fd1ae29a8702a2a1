import { sql } from "kysely";

import type { AskedBy } from "../../../core/exchanges.ts";
import { type Principal, storedSender } from "../../../core/principal.ts";
import type { Dialect } from "../../dialect.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import { isPending } from "../messages/read.ts";
import { MAY_BE_UNCONFIRMED } from "../messages/refuse-unconfirmed.ts";
import type { Operation, Tx } from "../../store.ts";
import type { RunningRecord } from "./records.ts";

/**
 * For an UPDATE of `sessions` after the records have changed: see `ready_at` in `schema.ts`. It is in the future while
 * the exchange that is next waits for its time.
 */
export function readyAt(dialect: Dialect) {
  const notBefore = sql`(
    select coalesce(next.not_before, '') from exchanges as next
    where next.session_id = sessions.id and next.ended_at is null order by ${BEGUN_FIRST}, n limit 1
  )`;
  return sql<string | null>`case
    when state = 'active' and parent_call_id is null and (
      select max(case when open.state = 'queued' then 1 else 2 end) from exchanges as open
      where open.session_id = sessions.id and open.ended_at is null
    ) = 1 then case
      when ${notBefore} > ${dialect.now()} then ${notBefore}
      when ready_at <= ${dialect.now()} then ready_at
      else ${dialect.now()} end
    end`;
}

export async function refreshReady(tx: Tx, id: string): Promise<void> {
  await tx.rows(setReady, { id });
  tx.touch(id);
}

const setReady = prepared(({ db, dialect }, given: Parameter<{ readonly id: string }>) =>
  db
    .updateTable("sessions")
    .set({ ready_at: readyAt(dialect) })
    .where("id", "=", given("id")),
);

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
  const rows =
    after === null
      ? await tx.rows(firstReady, { limit })
      : await tx.rows(readyAfter, { limit, ready_at: after.ready_at, id: after.id });
  return rows.map((row) => ({ ...row, is_settled: Boolean(row.is_settled) }));
};

const firstReady = prepared((parts, given: Parameter<{ readonly limit: number }>) =>
  selectReady(parts).limit(given("limit")),
);

const readyAfter = prepared((parts, given: Parameter<ReadyPosition & { readonly limit: number }>) =>
  selectReady(parts)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple("ready_at", "id"), ">", tuple(given("ready_at"), given("id"))),
    )
    .limit(given("limit")),
);

function selectReady({ db, dialect }: QueryParts) {
  return (
    db
      .selectFrom("sessions")
      .select(["id", "repo_path", "agent", "thread_suffix"])
      .select(({ eb, ref }) => [
        ref("ready_at").$notNull().as("ready_at"),
        eb("ready_at", "<", dialect.now(-SETTLED_MS)).as("is_settled"),
      ])
      // those that wait for their time are left out
      .where("ready_at", "<=", dialect.now())
      .orderBy("ready_at")
      .orderBy("id")
  );
}

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
> = async (tx, input) => (await findNextQueued(tx, input))?.queued ?? null;

/** As `readNextQueued`, with a hint whether its session is to be checked: see `MAY_BE_UNCONFIRMED`. */
export async function findNextQueued(
  tx: Tx,
  { session_id }: { readonly session_id: string },
): Promise<{ readonly queued: QueuedExchange; readonly mayBeUnconfirmed: boolean } | null> {
  const [first] = await tx.rows(nextQueued, { session_id });
  if (first?.state !== "queued") {
    return null;
  }
  const { state: _, origin, authenticated, may_be_unconfirmed, ...queued } = first;
  return {
    queued: { ...queued, principal: storedSender(origin, authenticated) },
    mayBeUnconfirmed: may_be_unconfirmed === 1,
  };
}

const nextQueued = prepared(({ db, dialect }, given: Parameter<{ readonly session_id: string }>) =>
  db
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
    .select(MAY_BE_UNCONFIRMED)
    .where("session_id", "=", given("session_id"))
    .where("exchanges.ended_at", "is", null)
    .where("ready_at", "<=", dialect.now())
    // while somebody compacts or repairs it, it cannot be taken
    .where(({ eb, or }) =>
      or([
        eb("lease_owner", "is", null),
        eb("lease_expires_at", "is", null),
        eb("lease_expires_at", "<=", dialect.now()),
      ]),
    )
    .orderBy(BEGUN_FIRST)
    .orderBy("n")
    .limit(1),
);

/** A queued exchange that begins under a lease. */
export interface ClaimQueued extends QueuedReference {
  readonly epoch: number;
  readonly model: string | null;
  readonly persona_name: string | null;
}

/**
 * Marks a queued exchange as running under a lease, in the transaction that takes its message out.
 * Null if it is not queued any more, was changed since it was read, or may not run yet because
 * another one has begun.
 */
export async function claimQueued(tx: Tx, claim: ClaimQueued): Promise<RunningRecord | null> {
  const [row] = await tx.rows(claimRecord, claim);
  return row ?? null;
}

const claimRecord = prepared(({ db, dialect }, given: Parameter<ClaimQueued>) =>
  db
    .updateTable("exchanges")
    .set((eb) => ({
      state: "running" as const,
      revision: eb("revision", "+", 1),
      epoch: given("epoch"),
      model: given("model"),
      persona_name: given("persona_name"),
      thread_suffix: ofSession("thread_suffix"),
      input_before: eb.fn.coalesce("input_before", ofSession("total_input_tokens")),
      output_before: eb.fn.coalesce("output_before", ofSession("total_output_tokens")),
      begun_at: eb.fn.coalesce("begun_at", dialect.now()),
      first_seq: eb.fn.coalesce(
        "first_seq",
        eb
          .selectFrom("messages")
          .select(({ fn }) => fn.min("seq").as("seq"))
          .whereRef("messages.session_id", "=", "exchanges.session_id")
          .where(isPending),
        ofSession("last_seq", 1),
      ),
      content: null,
      stop_asked_at: null,
    }))
    .where("session_id", "=", given("session_id"))
    .where("n", "=", given("n"))
    .where("revision", "=", given("revision"))
    .where("state", "=", "queued")
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("sessions")
          .select("sessions.id")
          .whereRef("sessions.id", "=", "exchanges.session_id")
          .where("ready_at", "<=", dialect.now()),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("exchanges as begun")
            .select("begun.n")
            .whereRef("begun.session_id", "=", "exchanges.session_id")
            .where("begun.ended_at", "is", null)
            .where("begun.begun_at", "is not", null)
            .whereRef("begun.n", "!=", "exchanges.n"),
        ),
      ),
    )
    .returning(["n", "id", "input_before", "output_before"]),
);

function ofSession(column: string, more = 0) {
  return sql<number>`(select ${sql.ref(`sessions.${column}`)} + ${sql.lit(more)} from sessions where sessions.id = exchanges.session_id)`;
}
