import type { RunPlan } from "./plan-of-run.ts";
import { plural } from "../core/text/text.ts";
import type { StoredPhase } from "../store/records/plans/phases.ts";

/** Returns the last message of a run whose phases are all done. */
export function runReport(plan: RunPlan, phases: readonly StoredPhase[]): string {
  const attempts = new Map(phases.map(({ key, attempt }) => [key, attempt]));
  return [
    `All ${plural(plan.phases.length, "phase")} of the plan are done.`,
    "",
    ...plan.phases.map(({ key, title, role }) => {
      const attempt = attempts.get(key) ?? 1;
      return `- ${key}: ${title} (${role}${attempt === 1 ? "" : `, attempt ${attempt}`})`;
    }),
  ].join("\n");
}
