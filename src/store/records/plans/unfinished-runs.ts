import type { Operation } from "../../store.ts";

/** A run of which not each phase is done. */
export interface UnfinishedRun {
  readonly session_id: string;
  readonly has_checks: boolean;
}

/** Reads the runs that can be continued, the latest first. */
export const readUnfinishedRuns: Operation<null, readonly UnfinishedRun[]> = async ({ db }) => {
  const rows = await db
    .selectFrom("plan_runs")
    .innerJoin("sessions", "sessions.id", "plan_runs.session_id")
    .select(["session_id", "checks"])
    .where("sessions.state", "=", "active")
    .where(({ exists, selectFrom, lit }) =>
      exists(
        selectFrom("plan_phases")
          .select(lit(1).as("one"))
          .whereRef("plan_phases.session_id", "=", "plan_runs.session_id")
          .where("plan_phases.state", "!=", "done"),
      ),
    )
    .orderBy("last_activity_at", "desc")
    .orderBy("session_id")
    .execute();
  return rows.map(({ session_id, checks }) => ({ session_id, has_checks: checks !== null }));
};
