/** Days before the end of a model from which its users are warned. */
export const WARNED_DAYS = 90;

const DAY_MS = 24 * 60 * 60 * 1000;

/** True if a day, `2026-12-11`, is over or comes within `WARNED_DAYS`. */
export function endsSoon(day: string, now: Date): boolean {
  return Date.parse(day) - now.getTime() <= WARNED_DAYS * DAY_MS;
}

/** True if the last day of a model is over. */
export function hasEnded(day: string, now: Date): boolean {
  return Date.parse(day) + DAY_MS <= now.getTime();
}

/** Returns `11 Dec 2026`. */
export function shownDay(day: string): string {
  return new Date(day).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  });
}

/** Returns a sentence about a model that ends soon, or has; null for others. */
export function endSentence(name: string, ends: string | null, now: Date): string | null {
  if (ends === null || !endsSoon(ends, now)) {
    return null;
  }
  const when = hasEnded(ends, now) ? "was shut down after" : "will be shut down after";
  return `${name} ${when} ${shownDay(ends)}. Choose another model; \`reprise models\` lists some.`;
}
