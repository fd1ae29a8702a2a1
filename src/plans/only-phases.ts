import type { PhasePlan } from "../artifacts/plans/phase-plan.ts";
import { RepriseError } from "../core/errors.ts";
import type { PlanChecks } from "../core/plan-runs.ts";
import { quote } from "../core/text/terminal-text.ts";

/**
 * Returns the plan with these phases and all that they depend on, in its order; the whole plan for no keys.
 *
 * Error codes: `invalid_usage` for what is not the key of a phase.
 */
export function onlyPhases(plan: PhasePlan, keys: readonly string[]): PhasePlan {
  if (keys.length === 0) {
    return plan;
  }
  const byKey = new Map(plan.phases.map((phase) => [phase.key, phase]));
  const kept = new Set(keys);
  for (const key of kept) {
    const phase = byKey.get(key);
    if (phase === undefined) {
      throw new RepriseError(
        "invalid_usage",
        `The plan has no phase ${quote(key)}. Name one of its keys.`,
      );
    }
    for (const each of phase.depends_on ?? []) {
      kept.add(each);
    }
  }
  return { ...plan, phases: plan.phases.filter(({ key }) => kept.has(key)) };
}

/** Returns the checks of the phases that a plan has, and those of each phase. */
export function onlyChecks(checks: PlanChecks | null, { phases }: PhasePlan): PlanChecks | null {
  if (checks?.phases === undefined) {
    return checks;
  }
  const keys = new Set(phases.map(({ key }) => key));
  const kept = Object.entries(checks.phases).filter(([key]) => keys.has(key));
  return { ...checks, phases: Object.fromEntries(kept) };
}
