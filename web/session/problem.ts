import { ClientError } from "../../src/entries/client.ts";

/** Why there is nothing to show. */
export interface SessionProblem {
  readonly code: string;
  readonly sentence: string;
}

export function problemOf(error: unknown): SessionProblem {
  return error instanceof ClientError
    ? { code: error.code, sentence: error.message }
    : { code: "internal", sentence: error instanceof Error ? error.message : String(error) };
}

/** True for what another attempt may fix: nothing answered, or the service could not. */
export function isPassing(error: unknown): boolean {
  return error instanceof ClientError && (error.status === 0 || error.status >= 500);
}
