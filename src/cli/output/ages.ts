import { wrongUsage } from "../process/wrong-usage.ts";

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

/** From then on a day says more than a number of days. */
const DAYS_SHOWN = 31;

/** How long ago in a column of a table: `now`, `5 min`, `3 h`, `12 d`, then `Jan 31` or `Jan 2025`. */
export function shortAge(at: number, now: number): string {
  const ago = now - at;
  if (ago >= DAYS_SHOWN * DAY) {
    const [day, today] = [new Date(at), new Date(now)];
    const isThisYear = day.getFullYear() === today.getFullYear();
    return `${MONTHS[day.getMonth()] ?? ""} ${isThisYear ? day.getDate() : day.getFullYear()}`;
  }
  return ago < 60_000 ? "now" : age(ago).replace(" ago", "");
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/**
 * `2026-01-31 14:02`, or with its second, in the time zone of this machine. What is not a time is returned as it is.
 */
export function localTime(iso: string, unit: "minute" | "second" = "minute"): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) {
    return iso;
  }
  const day = `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
  const parts = [at.getHours(), at.getMinutes(), ...(unit === "second" ? [at.getSeconds()] : [])];
  return `${day} ${parts.map(twoDigits).join(":")}`;
}

function twoDigits(count: number): string {
  return String(count).padStart(2, "0");
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
