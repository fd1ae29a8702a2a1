import { insertPhases, insertRun, lastRun } from "../records/plans/create-run.ts";
import type { Tx } from "../store.ts";
import {
  PHASE_COLUMNS,
  type PortablePhase,
  type PortableRun,
  type PortableSession,
} from "./export-schema.ts";

/** The run of a session; null for a session that runs no plan. */
export async function readPortableRun(tx: Tx, session_id: string): Promise<PortableRun | null> {
  const row = await tx.db
    .selectFrom("plan_runs")
    .select(["run_id", "plan", "path", "checks", "options"])
    .where("session_id", "=", session_id)
    .executeTakeFirst();
  if (row === undefined) {
    return null;
  }
  const phases = await tx.db
    .selectFrom("plan_phases")
    .select(PHASE_COLUMNS)
    .where("session_id", "=", session_id)
    .orderBy("position")
    .execute();
  const { options, checks, ...run } = row;
  return {
    ...run,
    checks: checks === null ? null : (JSON.parse(checks) as PortableRun["checks"]),
    options: JSON.parse(options) as PortableRun["options"],
    phases: phases.map(({ checked, ...phase }) => ({
      ...phase,
      checked: checked === null ? null : (JSON.parse(checked) as PortablePhase["checked"]),
    })),
  };
}

/** Stores the run of a session, as the latest one of its plan in the project. Nobody here has accepted its checks. */
export async function writePortableRun(
  tx: Tx,
  {
    id: session_id,
    project_key,
    repo_path,
  }: Pick<PortableSession, "id" | "project_key" | "repo_path">,
  { phases, ...run }: PortableRun,
): Promise<void> {
  const project = project_key ?? repo_path ?? session_id;
  const last = await lastRun(tx, { project_key: project, run_id: run.run_id });
  await insertRun(tx, {
    ...run,
    session_id,
    project_key: project,
    number: (last?.number ?? 0) + 1,
    checks_accepted: 0,
  });
  const rows = phases.map(({ checked, ...phase }, position) => ({
    ...phase,
    checked: checked === null ? null : JSON.stringify(checked),
    session_id,
    position,
  }));
  await insertPhases(tx, rows);
}
