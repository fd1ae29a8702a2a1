import { isRepriseError } from "../../core/errors.ts";
import type { Check } from "../../store/verify/check.ts";

/** A check that ended with an error of ours; throws any other one. */
export function failedCheck(name: string, error: unknown, prefix = ""): Check {
  if (!isRepriseError(error)) {
    throw error;
  }
  return { name, status: "failed", sentence: `${prefix}${error.message}` };
}
