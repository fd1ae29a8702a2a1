import type { ExchangeState } from "../core/exchanges.ts";
import type { PhaseState, RunOptions, ShownPhase } from "../core/plan-runs.ts";
import type { ExchangeRecord } from "../core/sessions.ts";
import type { StoredRun } from "../store/records/plans/read-runs.ts";
import { phaseOf, planOf, type RunPlan } from "./plan-of-run.ts";
import { shownPhases } from "./schedule.ts";

/** A run in a list. */
export interface RunSummary {
  readonly session_id: string;
  readonly run_id: string;
  /** How often the plan was begun in the project, this time included. */
  readonly number: number;
  /** State of the run's last exchange; `queued` before the first one. */
  readonly state: ExchangeState;
  readonly phases_done: number;
  readonly phases_total: number;
  /** Keys of the phases that wait for a person. */
  readonly asking: readonly string[];
}

/** A phase of a run, as a person sees it. */
export interface RunPhase {
  readonly key: string;
  readonly title: string;
  readonly role: string;
  readonly depends_on: readonly string[];
  /** Stored state. */
  readonly state: PhaseState;
  readonly shown: ShownPhase;
  readonly attempt: number;
  /** Session of the attempt's sub-agent; null before it begins. */
  readonly session_id: string | null;
  readonly error: { readonly code: string; readonly sentence: string } | null;
  readonly begun_at: string | null;
  readonly ended_at: string | null;
}

/** A run with all that is known of it. */
export interface RunDetail extends RunSummary {
  readonly path: string | null;
  readonly plan: RunPlan;
  readonly options: RunOptions;
  readonly exchange: ExchangeRecord | null;
  readonly phases: readonly RunPhase[];
}

/** Returns what is shown of a run. */
export function runDetail(run: StoredRun): RunDetail {
  const plan = planOf(run);
  const { exchange, number, options, path, run_id, session_id } = run;
  const state = exchange?.state ?? "queued";
  const rows = run.phases.map((row) => ({ ...row, phase: phaseOf(plan, row) }));
  const shown = shownPhases(
    rows.map(({ phase, ...row }) => ({ ...row, depends_on: phase.depends_on ?? [] })),
    state === "running",
  );
  const phases = rows.map(({ phase, key, error_code, error_sentence, ...row }): RunPhase => ({
    key,
    title: phase.title,
    role: phase.role,
    depends_on: phase.depends_on ?? [],
    state: row.state,
    shown: shown.get(key) ?? row.state,
    attempt: row.attempt,
    session_id: row.child,
    error: error_code === null ? null : { code: error_code, sentence: error_sentence ?? "" },
    begun_at: row.begun_at,
    ended_at: row.ended_at,
  }));
  return {
    session_id,
    run_id,
    number,
    state,
    phases_done: phases.filter((each) => each.state === "done").length,
    phases_total: phases.length,
    asking: phases
      .filter(({ shown: is }) => is === "asking" || is === "approval")
      .map(({ key }) => key),
    path,
    plan,
    options,
    exchange,
    phases,
  };
}

/** Returns the fields of a run that a list shows. */
export function runSummary(run: StoredRun): RunSummary {
  const {
    plan: _plan,
    path: _path,
    options: _o,
    exchange: _e,
    phases: _p,
    ...summary
  } = runDetail(run);
  return summary;
}
