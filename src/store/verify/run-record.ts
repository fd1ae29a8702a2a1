import { type Selectable, sql } from "kysely";

import type { RunOptions } from "../../core/plan-runs.ts";
import { attemptsOf } from "../records/plans/attempt-use.ts";
import type { Tx } from "../store.ts";
import type { ExchangeTable } from "../tables/database.ts";
import type { PlanPhaseTable, PlanRunTable } from "../tables/plans.ts";
import type { QuestionTable } from "../tables/questions.ts";

/** A run as it is stored, as far as something of it can be wrong. */
export interface RunRecord {
  readonly run: Pick<Selectable<PlanRunTable>, "plan" | "plan_hash" | "checks" | "options">;
  /** In the order of their positions. */
  readonly phases: readonly Omit<Selectable<PlanPhaseTable>, "session_id" | "changed">[];
  /** The exchanges of its sub-agents in their order; one without a number for a sub-agent that has none. */
  readonly exchanges: readonly AttemptExchange[];
  /** Questions whether attempts may begin, in their order. */
  readonly approvals: readonly Pick<
    Selectable<QuestionTable>,
    "call_id" | "state" | "answer" | "answered_here"
  >[];
  /** Call ids of the attempts that changed files other than by handing in an artifact. */
  readonly writers: ReadonlySet<string>;
  /** Its last answer; null without one. */
  readonly report: string | null;
}

/** An exchange of the sub-agent of an attempt. */
export interface AttemptExchange extends Nullable<
  Pick<Selectable<ExchangeTable>, "n" | "state" | "epoch" | "begun_at">
> {
  readonly session_id: string;
  readonly call_id: string;
  /** True if the process that has the lease of the run's session has that of the sub-agent, too. */
  readonly isHeld: boolean;
}

type Nullable<Row> = { readonly [Column in keyof Row]: Row[Column] | null };

/** Reads the run of a session, with as many statements for many phases as for one; null without its rows. */
export async function readRunRecord(
  tx: Tx,
  { id, lease_owner }: { readonly id: string; readonly lease_owner: string | null },
): Promise<RunRecord | null> {
  const run = await tx.db
    .selectFrom("plan_runs")
    .select(["plan", "plan_hash", "checks", "options"])
    .where("session_id", "=", id)
    .executeTakeFirst();
  if (run === undefined) {
    return null;
  }
  const phases = await tx.db
    .selectFrom("plan_phases")
    .select(["key", "position", "state", "attempt", "approved", "artifact_hash", "checked"])
    .select(["error_code", "error_sentence", "begun_at", "ended_at"])
    .where("session_id", "=", id)
    .orderBy("position")
    .execute();
  const approvals = await tx.db
    .selectFrom("questions")
    .select(["call_id", "state", "answer", "answered_here"])
    .where("session_id", "=", id)
    .where("kind", "=", "approval")
    .orderBy("call_id")
    .orderBy("number")
    .execute();
  const last = await tx.db
    .selectFrom("messages")
    .select("content")
    .where("session_id", "=", id)
    .where("role", "=", "assistant")
    .orderBy("seq", "desc")
    .limit(1)
    .executeTakeFirst();
  return {
    run,
    phases,
    exchanges: await readExchanges(tx, { id, lease_owner }),
    approvals,
    writers: await readWriters(tx, id),
    report: last?.content ?? null,
  };
}

async function readExchanges(
  { db, dialect }: Tx,
  { id, lease_owner }: { readonly id: string; readonly lease_owner: string | null },
): Promise<readonly AttemptExchange[]> {
  const rows = await db
    .selectFrom("sessions")
    .leftJoin("exchanges", "exchanges.session_id", "sessions.id")
    .select(["sessions.id", "parent_call_id", "lease_owner", "n", "exchanges.state", "epoch"])
    .select((eb) => ["begun_at", eb("lease_expires_at", ">", dialect.now()).as("holds")])
    .where("parent_session_id", "=", id)
    .where("parent_call_id", "is not", null)
    .orderBy("sessions.id")
    .orderBy("n")
    .execute();
  return rows.map(({ id: session_id, parent_call_id, lease_owner: owner, holds, ...exchange }) => ({
    ...exchange,
    session_id,
    call_id: parent_call_id ?? "",
    isHeld: owner !== null && owner === lease_owner && Boolean(holds),
  }));
}

/** An artifact is written by Reprise, also for a role that writes nothing. */
async function readWriters({ db }: Tx, id: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ call_id: string }>`${attemptsOf(id)}
    select distinct attempt.call_id from attempt
    join file_changes on file_changes.session_id = attempt.id
    where tool <> 'hand_in'`.execute(db);
  return new Set(rows.map(({ call_id }) => call_id));
}

/** Options of a run; null if they cannot be read. */
export function optionsOf({ options }: RunRecord["run"]): RunOptions | null {
  try {
    const read = JSON.parse(options) as Partial<RunOptions> | null;
    const { parallel, approve } = read ?? {};
    return Number.isInteger(parallel) && Array.isArray(approve) ? (read as RunOptions) : null;
  } catch {
    return null;
  }
}
