/** True for a moment that the calendar has, as ISO 8601 text in UTC with milliseconds. */
export function isTime(text: string): boolean {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString() === text;
}
