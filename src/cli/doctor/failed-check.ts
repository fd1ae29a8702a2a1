import { isRepriseError } from "../../core/errors.ts";
import type { Check } from "../../store/verify/check.ts";

/** The failed check for a RepriseError; any other error is thrown on. */
export function failedCheck(name: string, error: unknown, prefix = ""): Check {
  if (!isRepriseError(error)) {
    throw error;
  }
  return { name, status: "failed", sentence: `${prefix}${error.message}` };
}
