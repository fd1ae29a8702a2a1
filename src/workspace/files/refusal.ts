import type { CallStatus } from "../../core/calls.ts";
import { RepriseError } from "../../core/errors.ts";

const DENIED = Symbol("denied");

/** A tool's refusal, worded for the model that called it. */
export function refusal(message: string): RepriseError {
  return new RepriseError("invalid_request", message);
}

/** Makes the refusal of a rule or a person. */
export function denial(message: string): RepriseError {
  return Object.assign(refusal(message), { [DENIED]: true as const });
}

/** How a call ended that threw this. */
export function statusOfFailure(error: unknown): CallStatus {
  return error instanceof RepriseError && DENIED in error ? "denied" : "failed";
}
