/** True for a moment that the calendar has, as ISO 8601 text in UTC with milliseconds. */
export function isTime(text: string): boolean {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString() === text;
}

/** The next millisecond; the same moment at the end of the calendar. */
export function momentAfter(time: string): string {
  const next = new Date(Date.parse(time) + 1);
  const text = Number.isNaN(next.getTime()) ? time : next.toISOString();
  return text.length === time.length ? text : time;
}
