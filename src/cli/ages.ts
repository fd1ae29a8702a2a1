import { wrongUsage } from "./wrong-usage.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const SHOWN = [
  { name: "d", milliseconds: DAY },
  { name: "h", milliseconds: HOUR },
  { name: "min", milliseconds: 60_000 },
] as const;

/** How long ago, in the largest unit that fits. */
export function age(ago: number): string {
  const unit = SHOWN.find(({ milliseconds }) => ago >= milliseconds);
  return unit === undefined
    ? "just now"
    : `${Math.floor(ago / unit.milliseconds)} ${unit.name} ago`;
}

const TAKEN = { h: HOUR, d: DAY, w: 7 * DAY } as const;

/** The milliseconds of `--older-than`. Error codes: `invalid_usage`. */
export function olderThan(text: string): number {
  const ago = milliseconds(text);
  if (ago === null) {
    throw wrongUsage(
      "--older-than takes a whole number of hours, days or weeks, such as 36h, 90d or 12w.",
    );
  }
  return ago;
}

/** The moment of `--since`: so long ago, or when a day began here. Error codes: `invalid_usage`. */
export function since(text: string): Date {
  const ago = milliseconds(text);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const moment =
    ago === null ? new Date(`${isDay ? text : ""}T00:00:00`) : new Date(Date.now() - ago);
  if (Number.isNaN(moment.getTime())) {
    throw wrongUsage(
      "--since takes hours, days or weeks, such as 36h or 7d, or a day: 2026-01-31.",
    );
  }
  return moment;
}

function milliseconds(text: string): number | null {
  const [, count, unit] = /^([1-9]\d{0,4})([hdw])$/.exec(text) ?? [];
  return unit === "h" || unit === "d" || unit === "w" ? Number(count) * TAKEN[unit] : null;
}
