/** Reading for all readers of a process takes at most this part of the time. */
const SHARE = 1 / 20;
/** A single slow read, as of a database that was away, delays the next one no longer. */
const MAX_PAUSE_MS = 5000;

/** Returns how long nothing is read after a read that took so many milliseconds. */
export function pauseAfter(tookMs: number): number {
  return Math.min(tookMs / SHARE, MAX_PAUSE_MS);
}
