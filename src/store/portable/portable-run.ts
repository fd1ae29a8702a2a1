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

/**
 * Returns the keys of the phases of a plan that somebody may have written by hand; null if it cannot be run. The
 * fields that running it reads are checked, and that dependencies are phases.
 */
export function planKeys(text: string): readonly string[] | null {
  const phases = phasesIn(text);
  if (phases === null || !phases.every(isPhase)) {
    return null;
  }
  const keys = phases.map(({ key }) => key);
  const known = new Set(keys);
  const isWhole = phases.every(({ depends_on = [] }) => depends_on.every((key) => known.has(key)));
  return known.size === keys.length && isWhole ? keys : null;
}

interface Phase {
  readonly key: string;
  readonly depends_on?: readonly string[];
}

function phasesIn(text: string): readonly unknown[] | null {
  try {
    const plan: unknown = JSON.parse(text);
    const phases: unknown =
      typeof plan === "object" && plan !== null ? Reflect.get(plan, "phases") : null;
    return Array.isArray(phases) ? phases : null;
  } catch {
    return null;
  }
}

function isPhase(value: unknown): value is Phase {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const texts = ["key", "title", "role", "instructions"].map((name): unknown =>
    Reflect.get(value, name),
  );
  const depends: unknown = Reflect.get(value, "depends_on") ?? [];
  const artifact: unknown = Reflect.get(value, "expected_artifact");
  return (
    texts.every((text) => typeof text === "string") &&
    Array.isArray(depends) &&
    depends.every((key) => typeof key === "string") &&
    (artifact === undefined || isArtifact(artifact))
  );
}

function isArtifact(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof Reflect.get(value, "path") === "string" &&
    typeof Reflect.get(value, "schema") === "string"
  );
}
