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
  const [, count, unit] = /^([1-9]\d{0,4})([hdw])$/.exec(text) ?? [];
  if (unit === "h" || unit === "d" || unit === "w") {
    return Number(count) * TAKEN[unit];
  }
  throw wrongUsage(
    "--older-than takes a whole number of hours, days or weeks, such as 36h, 90d or 12w.",
  );
}
