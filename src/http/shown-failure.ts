import type { AccessRole } from "../core/principal.ts";
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
