import { RepriseError } from "../core/errors.ts";

/** The error for options and arguments that cannot be used as they are. */
export function wrongUsage(sentence: string): RepriseError {
  return new RepriseError("invalid_usage", sentence);
}
