import { MAX_POSTPONED_MS } from "../core/limits.ts";
import { isRepriseError } from "../core/errors.ts";

/** A provider that limits requests again and again is asked once in this time. */
const MIN_POSTPONED_MS = 60_000;

/**
 * Returns when an exchange of a service that failed with this error continues by itself, as ISO 8601 in UTC: once the
 * limit is over that was reached. Null if that is unknown, or too late for an exchange that began then.
 */
export function postponedUntil(
  error: unknown,
  { begun_at, now }: { readonly begun_at: string | null; readonly now: number },
): string | null {
  const resets = isRepriseError(error) ? (error.failure?.resets_at ?? null) : null;
  if (resets === null) {
    return null;
  }
  const at = Math.max(Date.parse(resets), now + MIN_POSTPONED_MS);
  const begun = begun_at === null ? now : Date.parse(begun_at);
  return at > begun + MAX_POSTPONED_MS ? null : new Date(at).toISOString();
}
