import { type ErrorCode, isRepriseError } from "../core/errors.ts";
import type { ExchangeFailure } from "../core/sessions.ts";

/** Another process has the session by then, this one is being stopped, or nothing was run. */
const NO_FAILURES: readonly ErrorCode[] = [
  "lease_lost",
  "session_ended",
  "shutting_down",
  "nothing_to_continue",
  "exchange_interrupted",
];

/** What is stored of an error that ended an exchange; null if the exchange was cut, not failed. */
export function exchangeFailure(error: unknown): ExchangeFailure | null {
  return isRepriseError(error, ...NO_FAILURES) ? null : failureOf(error);
}

/** What may be shown of an error that ended an exchange. */
export function failureOf(error: unknown): ExchangeFailure & { readonly code: ErrorCode } {
  if (!isRepriseError(error)) {
    // its text may hold anything
    return { code: "internal", sentence: "Something went wrong inside Reprise." };
  }
  const sentence = error.message.toWellFormed().replaceAll("\0", "\u{FFFD}");
  return { code: error.code, sentence };
}
