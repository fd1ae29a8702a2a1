import { RepriseError } from "../../core/errors.ts";

/** A tool's refusal, worded for the model that called it. */
export function refusal(message: string): RepriseError {
  return new RepriseError("invalid_request", message);
}
