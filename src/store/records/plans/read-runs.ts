import type { Selectable } from "kysely";

import { RepriseError } from "../../../core/errors.ts";
import { PLAN_AGENT, type PlanChecks, type RunOptions } from "../../../core/plan-runs.ts";
import type { ExchangeRecord, Session } from "../../../core/sessions.ts";
import type { Operation } from "../../store.ts";
import type { PlanRunTable } from "../../tables/plans.ts";
import { readCurrentExchange } from "../exchanges/current.ts";
import { readSession, resolveSession } from "../sessions/read.ts";
import { readPhases, type StoredPhase } from "./phases.ts";

/** A run as it is stored. */
export interface StoredRun extends Omit<
  Selectable<PlanRunTable>,
  "options" | "checks" | "project_key"
> {
  readonly session: Session;
  readonly options: RunOptions;
  readonly checks: PlanChecks | null;
  readonly phases: readonly StoredPhase[];
  /** The last exchange of its session; null before it begins. */
  readonly exchange: ExchangeRecord | null;
}

/**
 * Reads a run by the id of its session, by a prefix of it, or by the run id of its plan: the last run of that.
 *
 * Error codes: as `resolveSession`; `run_missing` for a session that has no run.
 */
export const readRun: Operation<{ readonly reference: string }, StoredRun> = async (
  tx,
  { reference },
) => {
  const named = await tx.db
    .selectFrom("plan_runs")
    .innerJoin("sessions", "sessions.id", "plan_runs.session_id")
    .select("plan_runs.session_id")
    .where((eb) =>
      eb.or([eb("run_id", "=", reference), eb("plan_runs.session_id", "=", reference)]),
    )
    // a plan may have the id of a session as its runId
    .orderBy((eb) => eb.case().when("plan_runs.session_id", "=", reference).then(0).else(1).end())
    .orderBy("sessions.created_at", "desc")
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  const id = named?.session_id ?? (await resolveSession(tx, { reference })).id;
  return readRunOf(tx, { session_id: id });
};

/** As `readRun`, for a session. */
export const readRunOf: Operation<{ readonly session_id: string }, StoredRun> = async (
  tx,
  { session_id },
) => {
  const row = await tx.db
    .selectFrom("plan_runs")
    .selectAll()
    .where("session_id", "=", session_id)
    .executeTakeFirst();
  const session = await readSession(tx, { id: session_id });
  if (row === undefined) {
    throw runMissing(session);
  }
  const { options, checks, project_key: _, ...run } = row;
  return {
    ...run,
    options: JSON.parse(options) as RunOptions,
    checks: checks === null ? null : (JSON.parse(checks) as PlanChecks),
    session,
    phases: await readPhases(tx, { session_id }),
    exchange: await readCurrentExchange(tx, { session_id }),
  };
};

function runMissing({ agent }: Session): RepriseError {
  return new RepriseError(
    "run_missing",
    agent === PLAN_AGENT
      ? "The rows of this session's run are missing, so it cannot be continued. Import the session again, or run the plan again."
      : "This session runs no plan. List the runs with `reprise plan runs`.",
  );
}
