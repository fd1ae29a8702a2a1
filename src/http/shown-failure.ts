import type { AccessRole } from "../core/principal.ts";
import type { RunPhase } from "../core/schemas/plan-run-schemas.ts";
import type { ExchangeRecord } from "../core/sessions.ts";

type Failed = Pick<ExchangeRecord, "error_code" | "error_sentence">;

/**
 * The record of an exchange as a caller may see it. The sentence of a model's failure may hold what its provider
 * wrote, which is for those who may write.
 */
export function recordFor<Shown extends Failed>(role: AccessRole, record: Shown): Shown {
  const { error_code, error_sentence } = record;
  return role === "owner" || error_sentence === null || error_code?.startsWith("model_") !== true
    ? record
    : { ...record, error_sentence: HIDDEN };
}

const HIDDEN =
  "The call of the model failed. Only its code is shown without the token of the service.";

/** A phase of a run as a caller may see it: see `recordFor`. */
export function phaseFor(role: AccessRole, phase: RunPhase): RunPhase {
  if (phase.error === null) {
    return phase;
  }
  const { code: error_code, sentence } = phase.error;
  const { error_sentence } = recordFor(role, { error_code, error_sentence: sentence });
  return { ...phase, error: { code: error_code, sentence: error_sentence ?? "" } };
}
