import { type Fault, RepriseError } from "./errors.ts";

/** The refusal of a body, query or header that does not fit. */
export function invalidRequest(faults: readonly Fault[]): RepriseError {
  return new RepriseError(
    "invalid_request",
    faults.length === 1
      ? "The request is invalid. Fix the listed problem and send it again."
      : `The request is invalid in ${faults.length} places. Fix the listed problems and send it again.`,
    { faults },
  );
}
