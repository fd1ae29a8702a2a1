import type { AccessRole } from "../../../core/principal.ts";
import type { RunDetail } from "../../../core/schemas/plan-run-schemas.ts";
import { phaseFor, recordFor } from "../../shown-failure.ts";

/** A run as a caller may see it: see `recordFor`. */
export function runFor(role: AccessRole, run: RunDetail): RunDetail {
  return {
    ...run,
    exchange: run.exchange === null ? null : recordFor(role, run.exchange),
    phases: run.phases.map((phase) => phaseFor(role, phase)),
  };
}
