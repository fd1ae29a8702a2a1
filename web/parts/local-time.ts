/**
 * A time as readers of a list want it: without the day if it is today, without the year if it is this one. `at` is in
 * ISO 8601; a text that is none is shown unchanged.
 */
export function localTime(at: string, now: Date): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) {
    return at;
  }
  const isToday = time.toDateString() === now.toDateString();
  const isThisYear = time.getFullYear() === now.getFullYear();
  const day = isToday ? {} : ({ day: "numeric", month: "short" } as const);
  const year = isThisYear ? {} : ({ year: "numeric" } as const);
  return time.toLocaleString(undefined, { ...year, ...day, hour: "2-digit", minute: "2-digit" });
}
