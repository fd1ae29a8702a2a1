import { type Fault, RepriseError } from "./errors.ts";
import { EFFORTS } from "./model-settings.ts";

/** The refusal of a word that names no effort. */
export function effortUnknown(faults: readonly Fault[] = []): RepriseError {
  return new RepriseError("effort_unknown", `Effort is ${EFFORTS.join(", ")}, or the default.`, {
    faults,
  });
}

/** The refusal of a body, query or header that does not fit; `effort_unknown` if nothing but the effort does not. */
export function invalidRequest(faults: readonly Fault[]): RepriseError {
  if (faults.length > 0 && faults.every(({ pointer }) => pointer === "/effort")) {
    return effortUnknown(faults);
  }
  return new RepriseError(
    "invalid_request",
    faults.length === 1
      ? "The request is invalid. Fix the listed problem and send it again."
      : `The request is invalid in ${faults.length} places. Fix the listed problems and send it again.`,
    { faults },
  );
}
