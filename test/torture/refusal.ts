import { ERROR_CODES } from "../../src/core/errors.ts";

/** What every refusal of the service holds. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

export function isErrorCode(code: unknown): boolean {
  return ERROR_CODES.some((known) => known === code);
}
