import { type ErrorCode, isRepriseError, lacksDescriptors } from "../core/errors.ts";
import type { ExchangeFailure } from "../core/sessions.ts";

/** Another process has the session by then, this one is being stopped, or nothing was run. */
const NO_FAILURES: readonly ErrorCode[] = [
  "lease_lost",
  "session_ended",
  "shutting_down",
  "nothing_to_continue",
  "exchange_interrupted",
];

/** Errors of this node or its database, which say nothing about the exchange. */
const PASSING: readonly ErrorCode[] = [
  "database_locked",
  "database_readonly",
  "database_full",
  "database_unavailable",
  "database_unsupported",
  "database_newer",
  "database_too_old",
  "descriptors_exhausted",
];

/** Errors of a node that lacks something for an exchange. Another one may have it, and this one after a restart. */
const LACKING: readonly ErrorCode[] = [
  "model_key_missing",
  "package_missing",
  "config_invalid",
  "sandbox_missing",
];

/** True for what keeps this node, now, from running any exchange. */
export function isPassing(error: unknown): boolean {
  return isRepriseError(error, ...PASSING) || (!isRepriseError(error) && lacksDescriptors(error));
}

/** True for what keeps this node from running this exchange. */
export function isLacking(error: unknown): boolean {
  return isRepriseError(error, ...LACKING);
}

/** Returns what is stored of an error that ended an exchange; null if the exchange was cut, not failed. */
export function exchangeFailure(error: unknown): ExchangeFailure | null {
  const isCut = isPassing(error) || isLacking(error) || isRepriseError(error, ...NO_FAILURES);
  return isCut ? null : failureOf(error);
}

/** Returns what may be shown of an error that ended an exchange. */
export function failureOf(error: unknown): ExchangeFailure & { readonly code: ErrorCode } {
  if (!isRepriseError(error)) {
    // its text may hold anything
    return { code: "internal", sentence: "Something went wrong inside Reprise." };
  }
  const sentence = error.message.toWellFormed().replaceAll("\0", "\u{FFFD}");
  const resets_at = error.failure?.resets_at ?? null;
  return { code: error.code, sentence, ...(resets_at === null ? {} : { resets_at }) };
}
