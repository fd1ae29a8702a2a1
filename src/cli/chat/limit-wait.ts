import { setTimeout as sleep } from "node:timers/promises";

import { isRepriseError } from "../../core/errors.ts";
import { localTime } from "../output/ages.ts";

/** The wait before the first repeated attempt at least; it doubles with each, up to `MAX_PAUSE_MS`. */
const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** A timer of Node.js takes 24 days at most, and does not count the time for which a machine slept. */
const SLICE_MS = 30_000;

/** The longest limit of a provider is that of a week; no command waits much longer. */
const MAX_WAIT_DAYS = 8;

/** Returns why no command waits for the end of a limit; null if one does. */
export function whyNoWait(resetsAt: string, now = Date.now()): string | null {
  return Date.parse(resetsAt) - now <= MAX_WAIT_DAYS * 24 * 3_600_000
    ? null
    : `The limit resets at ${shownReset(resetsAt, now)}; no command waits longer than ${MAX_WAIT_DAYS} days.`;
}

/** Returns when the limit is over that an exchange failed at, as ISO 8601 in UTC; null if nobody knows. */
export function resetOf(error: unknown): string | null {
  return isRepriseError(error) ? (error.failure?.resets_at ?? null) : null;
}

/** Returns the time at which a person reads that a limit is over. */
export function shownReset(resetsAt: string, now = Date.now()): string {
  const whole = localTime(resetsAt);
  const isToday = whole.slice(0, 10) === localTime(new Date(now).toISOString()).slice(0, 10);
  return isToday ? whole.slice(11) : whole;
}

/** Resolves once the limit is over; `times` is how often it was waited for before. Rejects with the signal's reason. */
export async function whenReset(
  resetsAt: string,
  { times, signal }: { readonly times: number; readonly signal: AbortSignal },
): Promise<void> {
  const pause = Math.min(PAUSE_MS * 2 ** times, MAX_PAUSE_MS);
  const until = Math.max(Date.parse(resetsAt), Date.now() + pause);
  for (let left = pause; left > 0; left = until - Date.now()) {
    await sleep(Math.min(left, SLICE_MS), undefined, { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error;
    });
  }
}
