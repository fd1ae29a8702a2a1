import type { PlanInfo } from "../../core/schemas/artifact-schemas.ts";
import { drawPicture } from "./drawing/svg.ts";
import { type Edge, phaseGraph } from "./phase-graph.ts";
import type { PhasePlan } from "./phase-plan.ts";

/**
 * Limits of a drawing: nothing else is answered meanwhile. The worst pictures of this size took 110 ms on an idle
 * machine. A phase has its texts in the picture, an edge the keys of its phases.
 */
const MAX_DRAWN = { phases: 400, edges: 2000, letters: 300_000 };

/**
 * A valid plan with its waves, its longest chain and its picture.
 *
 * Error codes: `plan_invalid` as `phaseGraph`.
 */
export function describePlan(plan: PhasePlan): PlanInfo {
  const { waves, longestChain, edges } = phaseGraph(plan);
  const waveOf = new Map(waves.flatMap((wave, at) => wave.map((key) => [key, at + 1] as const)));
  return {
    run_id: plan.runId,
    phase_key: plan.phaseKey,
    estimated_duration_hours: plan.estimated_duration_hours ?? null,
    phases: plan.phases.map(({ key, title, role, depends_on = [], expected_artifact }) => ({
      key,
      title,
      role,
      wave: waveOf.get(key) ?? 1,
      depends_on,
      expected_artifact: expected_artifact ?? null,
    })),
    waves,
    longest_chain: longestChain,
    ...(isDrawable(plan, edges) ? drawPicture(plan) : { picture: null, boxes: [] }),
  };
}

function isDrawable({ phases }: PhasePlan, edges: readonly Edge[]): boolean {
  if (phases.length > MAX_DRAWN.phases || edges.length > MAX_DRAWN.edges) {
    return false;
  }
  const ofPhases = phases.reduce(
    (sum, { key, title, role }) => sum + `${key}${title}${role}`.length,
    0,
  );
  const letters = edges.reduce((sum, { from, to }) => sum + from.length + to.length, ofPhases);
  return letters <= MAX_DRAWN.letters;
}
