import { MAX_POSTPONED_MS } from "../../core/limits.ts";

/** A limit as headers of an answer describe it. */
interface Limit {
  /** When it is over, in milliseconds. */
  readonly resetsAt: number;
  /** False if something of it is left, true if nothing is, null if the headers do not say. */
  readonly isUsedUp: boolean | null;
}

/** Names of a limit in headers: Anthropic's come as times, OpenAI's as durations. */
const RESET = /^(?:(anthropic-ratelimit-.+)-reset|x-ratelimit-reset-(.+))$/;

/**
 * Returns when the limits are over that an answer reports as used up, in milliseconds; null if it does not say.
 * "Rate limits" of Anthropic's and OpenAI's documentation (2026-11-26) have the headers.
 */
export function resetOf(headers: Headers, now: number): number | null {
  const limits = [...headers].flatMap(([name, value]) => limitIn(headers, { name, value, now }));
  const isKnown = limits.some(({ isUsedUp }) => isUsedUp !== null);
  const reached = limits.filter(({ isUsedUp }) => isUsedUp === true || !isKnown);
  const times = reached.map(({ resetsAt }) => resetsAt);
  return times.length === 0 ? null : Math.max(...times);
}

function limitIn(
  headers: Headers,
  { name, value, now }: { readonly name: string; readonly value: string; readonly now: number },
): Limit[] {
  const [, timed, lasting] = RESET.exec(name) ?? [];
  const resetsAt =
    timed !== undefined ? timeOf(value) : lasting === undefined ? null : lastsUntil(value, now);
  if (resetsAt === null || resetsAt <= now || resetsAt > now + MAX_POSTPONED_MS) {
    return [];
  }
  const left = headers.get(
    timed === undefined ? `x-ratelimit-remaining-${lasting ?? ""}` : `${timed}-remaining`,
  );
  return [{ resetsAt, isUsedUp: left === null ? null : Number(left) === 0 }];
}

/** Reads a date of RFC 3339, or seconds since 1970. */
function timeOf(value: string): number | null {
  const time = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value);
  return Number.isNaN(time) ? null : time;
}

const UNITS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

/** Reads a duration such as `6m0s`, `1.5s` or `120ms`; one without a unit is in seconds. */
function lastsUntil(value: string, now: number): number | null {
  if (/^\d+(?:\.\d+)?$/.test(value)) {
    return now + Number(value) * 1000;
  }
  if (!/^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/.test(value)) {
    return null;
  }
  const parts = value.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g);
  return [...parts].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS[unit as keyof typeof UNITS],
    now,
  );
}
