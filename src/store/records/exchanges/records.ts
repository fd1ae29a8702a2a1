import { type Selectable, sql } from "kysely";

import {
  type AskedBy,
  EXCHANGE_STATES,
  type ExchangeState,
  isFinal,
  statesBefore,
} from "../../../core/exchanges.ts";
import type { ExchangeFailure, Session } from "../../../core/sessions.ts";
import type { ExchangeTable } from "../../tables/database.ts";
import { type Parameter, prepared, type QueryParts } from "../../prepared.ts";
import type { Fence } from "../leases/fence.ts";
import type { Tx } from "../../store.ts";
import { endColumns } from "./end-columns.ts";

/*
 * How records change. Every change is made by a transaction that holds the session's row, compares
 * the state that was, and raises `revision`.
 */

/** The states of an exchange that has begun and not ended: one of a session at most. */
export const BEGUN = EXCHANGE_STATES.filter((state) => state !== "queued" && !isFinal(state));

/** The record of an exchange that runs. */
export interface RunningRecord {
  readonly n: number;
  readonly id: string;
  /** The session's totals of tokens when it first began; null if its export did not have them. */
  readonly input_before: number | null;
  readonly output_before: number | null;
}

export interface NewRecord {
  readonly fence: Fence;
  readonly id: string;
  readonly n: number;
  readonly asked_by: AskedBy;
  readonly parent_n: number | null;
  readonly model: string | null;
  readonly persona_name: string | null;
  readonly first_seq: number;
  /** The session before it. */
  readonly before: Pick<Session, "thread_suffix" | "total_input_tokens" | "total_output_tokens">;
}

/** Stores a record as running. What it replaces was stopped before: see `stopRecords`. */
export async function insertRunning(
  tx: Tx,
  { fence, before, ...record }: NewRecord,
): Promise<RunningRecord> {
  const { n, id } = record;
  const tokens = {
    input_before: before.total_input_tokens,
    output_before: before.total_output_tokens,
  };
  await tx.rows(insertRecord, {
    ...record,
    ...tokens,
    session_id: fence.session_id,
    epoch: fence.epoch,
    state: "running",
    thread_suffix: before.thread_suffix,
  });
  return { n, id, ...tokens };
}

type InsertedRow = Pick<
  Selectable<ExchangeTable>,
  | "session_id"
  | "epoch"
  | "n"
  | "id"
  | "state"
  | "asked_by"
  | "parent_n"
  | "thread_suffix"
  | "model"
  | "persona_name"
  | "first_seq"
  | "input_before"
  | "output_before"
>;

const insertRecord = prepared(({ db, dialect }, given: Parameter<InsertedRow>) =>
  db.insertInto("exchanges").values({ ...given.row(), begun_at: dialect.now() }),
);

/**
 * Resumes the exchange that was interrupted, waited, or was given back by a node, under a new lease;
 * null if the session has none.
 */
export async function continueRecord(tx: Tx, fence: Fence): Promise<RunningRecord | null> {
  const [row] = await tx.rows(resumeRecord, { ...fence });
  return row ?? null;
}

const resumeRecord = prepared(({ db }, given: Parameter<Fence>) =>
  db
    .updateTable("exchanges")
    .set((eb) => ({
      state: "running" as const,
      epoch: given("epoch"),
      revision: eb("revision", "+", 1),
      // from here on it belongs to the process that resumes it
      queued_at: null,
    }))
    .where("session_id", "=", given("session_id"))
    .where("ended_at", "is", null)
    .where(({ eb, or, and }) =>
      or([
        eb("state", "in", statesBefore("continue")),
        and([eb("state", "=", "queued"), eb("begun_at", "is not", null)]),
      ]),
    )
    .returning(["n", "id", "input_before", "output_before"]),
);

/**
 * Says what became of the record of a session whose lease was just taken, if its last exchange did
 * not finish. One that ran is interrupted: its process has lost the lease. It is stopped if somebody
 * had asked for that. True if it is stopped.
 */
export async function settleRecords(tx: Tx, { session_id, epoch }: Fence): Promise<boolean> {
  const begun = tx.db
    .updateTable("exchanges")
    .where("session_id", "=", session_id)
    .where("ended_at", "is", null)
    .where("state", "in", BEGUN);
  const stopped = await begun
    .set((eb) => ({ ...endColumns(eb, tx.dialect), state: "stopped" }))
    .where("state", "=", "running")
    .where("stop_asked_at", "is not", null)
    .returning("n")
    .execute();
  await begun
    .set((eb) => ({
      state: eb
        .case("state")
        .when("running")
        .then<ExchangeState>("interrupted")
        .else(eb.ref("state"))
        .end(),
      epoch,
      revision: eb("revision", "+", 1),
    }))
    .execute();
  return stopped.length > 0;
}

/**
 * Stops what has begun in these sessions, also if a node has given it back, and says why if it was
 * not by a person.
 */
export async function stopRecords(
  tx: Tx,
  ids: readonly string[],
  reason: ExchangeFailure | null,
): Promise<void> {
  await tx.rows(stopBegun, { ids, ...errorColumns(reason) });
}

export const SESSION_ENDED: ExchangeFailure = {
  code: "session_ended",
  sentence: "The session was ended.",
};

/** As `stopRecords`, with those that are queued. */
export async function stopAllRecords(
  tx: Tx,
  ids: readonly string[],
  reason: ExchangeFailure | null,
): Promise<void> {
  await tx.db
    .updateTable("exchanges")
    .set((eb) => ({ ...endColumns(eb, tx.dialect), state: "stopped", ...errorColumns(reason) }))
    .where("session_id", "in", ids)
    .where("ended_at", "is", null)
    .execute();
}

type ErrorColumns = ReturnType<typeof errorColumns>;

const stopBegun = prepared(
  ({ db, dialect }, given: Parameter<ErrorColumns & { readonly ids: readonly string[] }>) =>
    db
      .updateTable("exchanges")
      .set((eb) => ({
        ...endColumns(eb, dialect),
        state: "stopped" as const,
        error_code: given("error_code"),
        error_sentence: given("error_sentence"),
      }))
      .where("session_id", "in", given.all("ids"))
      .where("ended_at", "is", null)
      .where(({ eb, or }) =>
        or([
          eb("state", "in", BEGUN),
          eb("begun_at", "is not", null),
          // what was to continue later has nothing to continue any more
          eb.and([eb("content", "is", null), eb("not_before", "is not", null)]),
        ]),
      ),
);

/** How an exchange ended that ran. */
export interface RecordEnd {
  readonly fence: Fence;
  /** `interrupted` if it was cut and can be continued, `queued` if another process is to do so. */
  readonly state: "done" | "failed" | "stopped" | "waiting" | "interrupted" | "queued";
  readonly failure: ExchangeFailure | null;
  /** Of one that is queued: when it continues; null for at once. */
  readonly not_before?: string | null;
}

/**
 * Says how the exchange ended that ran under this lease, after all that it stored. Nothing changes if
 * the lease is not its record's any more. One that is to be continued is stopped instead if somebody
 * has asked for that meanwhile. True if another exchange may be queued.
 */
export async function endRecord(
  tx: Tx,
  { fence, state, failure, not_before = null }: RecordEnd,
): Promise<boolean> {
  const values = { ...fenceOf(fence), ...errorColumns(failure), not_before };
  if (isFinal(state)) {
    const [ended] = await tx.rows(endRunning, { ...values, state });
    return ended === undefined || Boolean(ended.has_queued);
  }
  await tx.rows(endStopped, { ...values, state: "stopped" });
  const query =
    state === "queued" ? queueRunning : state === "interrupted" ? cutRunning : parkRunning;
  await tx.rows(query, { ...values, state });
  return true;
}

/** A lease is a fence too, with more fields, which no query takes. */
function fenceOf({ session_id, epoch }: Fence): Fence {
  return { session_id, epoch };
}

type EndValues = Fence &
  Pick<RecordEnd, "state"> &
  ErrorColumns & { readonly not_before: string | null };

/**
 * On PostgreSQL, the statement that waited for the session's row does not see what the transaction
 * before it queued; this one does.
 */
const HAS_QUEUED = sql<boolean | number>`exists (
  select 1 from exchanges as other
  where other.session_id = exchanges.session_id and other.ended_at is null and other.state = 'queued'
)`.as("has_queued");

const endRunning = prepared((parts, given: Parameter<EndValues>) =>
  runningRecord(parts, given)
    .set((eb) => ({
      ...endColumns(eb, parts.dialect),
      state: given("state"),
      error_code: given("error_code"),
      error_sentence: given("error_sentence"),
      resets_at: given("resets_at"),
    }))
    .returning(HAS_QUEUED),
);

const endStopped = prepared((parts, given: Parameter<EndValues>) =>
  runningRecord(parts, given)
    .where("stop_asked_at", "is not", null)
    .set((eb) => ({ ...endColumns(eb, parts.dialect), state: given("state") })),
);

const parkRunning = prepared((parts, given: Parameter<EndValues>) =>
  runningRecord(parts, given).set((eb) => ({
    state: given("state"),
    revision: eb("revision", "+", 1),
  })),
);

/** Another process continues it, and another one if that dies. */
const queueRunning = prepared((parts, given: Parameter<EndValues>) =>
  runningRecord(parts, given).set((eb) => ({
    state: given("state"),
    revision: eb("revision", "+", 1),
    queued_at: eb.fn.coalesce("queued_at", parts.dialect.now()),
    not_before: given("not_before"),
  })),
);

/** Makes it wait for a person: no node continues it by itself. */
const cutRunning = prepared((parts, given: Parameter<EndValues>) =>
  runningRecord(parts, given).set((eb) => ({
    state: given("state"),
    revision: eb("revision", "+", 1),
    queued_at: null,
  })),
);

function runningRecord({ db }: Pick<QueryParts, "db">, given: Parameter<EndValues>) {
  return db
    .updateTable("exchanges")
    .where("session_id", "=", given("session_id"))
    .where("ended_at", "is", null)
    .where("epoch", "=", given("epoch"))
    .where("state", "=", "running");
}

function errorColumns(failure: ExchangeFailure | null) {
  const { code = null, sentence = null, resets_at = null } = failure ?? {};
  return { error_code: code, error_sentence: sentence, resets_at };
}
