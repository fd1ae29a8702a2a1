import type { AccessRole } from "../../../core/principal.ts";
import type { RunDetail, RunPhase } from "../../../core/schemas/plan-run-schemas.ts";
import { recordFor } from "../../shown-failure.ts";

/** A run as a caller may see it: see `recordFor`. */
export function runFor(role: AccessRole, run: RunDetail): RunDetail {
  return {
    ...run,
    exchange: run.exchange === null ? null : recordFor(role, run.exchange),
    phases: run.phases.map((phase) => phaseFor(role, phase)),
  };
}

/** A phase as a caller may see it. */
function phaseFor(role: AccessRole, phase: RunPhase): RunPhase {
  if (phase.error === null) {
    return phase;
  }
  const { code: error_code, sentence } = phase.error;
  const { error_sentence } = recordFor(role, { error_code, error_sentence: sentence });
  return { ...phase, error: { code: error_code, sentence: error_sentence ?? "" } };
}
