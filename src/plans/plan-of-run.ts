import type { Phase, PhasePlan } from "../artifacts/plans/phase-plan.ts";
import { RepriseError } from "../core/errors.ts";
import type { StoredPhase } from "../store/records/plans/phases.ts";

/** Plan of a run, as it was when the run began. */
export type RunPlan = PhasePlan;

/** A phase of such a plan. */
export type PlannedPhase = Phase;

/** Reads the plan that a run has stored: it was validated before. */
export function planOf({ plan }: { readonly plan: string }): RunPlan {
  return JSON.parse(plan) as RunPlan;
}

/** Returns the phase of the plan that a row is about. Error codes: `run_missing` if the plan has none. */
export function phaseOf({ phases }: RunPlan, { key }: Pick<StoredPhase, "key">): Phase {
  const phase = phases.find((each) => each.key === key);
  if (phase === undefined) {
    throw new RepriseError(
      "run_missing",
      "The rows of this run name a phase that its plan does not have. Import the session again, or run the plan again.",
    );
  }
  return phase;
}
