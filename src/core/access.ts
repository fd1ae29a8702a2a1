import type { Principal } from "./principal.ts";

/** The login of a browser. */
export interface Login {
  readonly id: string;
  readonly principal: Principal;
  /** The only session that a visitor reads; null for the others. */
  readonly session: string | null;
  /** When it ends if it is not used again, as ISO 8601 in UTC. */
  readonly expires_at: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A one-time code is valid for this long. */
export const CODE_MS = 5 * MINUTE_MS;
/** A login ends when it was not used for so long, and at this age at the latest. */
export const LOGIN_IDLE_MS = 12 * HOUR_MS;
export const LOGIN_MAX_MS = 7 * DAY_MS;
/** The last use of a login is written at most this often. */
export const LOGIN_TOUCH_MS = 5 * MINUTE_MS;
/** An answer that stays open is ended this long after its login has, at most. */
export const LOGIN_CHECK_MS = 5000;
/** Failed logins within a minute that are answered as such; those after them are answered with 429. */
export const FAILED_LOGINS = 10;
export const FAILED_LOGINS_MS = MINUTE_MS;
/** Days that a link is valid. */
export const SHARE_DAYS = 7;
export const MAX_SHARE_DAYS = 365;

/** Returns the part of a link after the address of the service. What follows `#` is not sent, and so not logged. */
export function sharePath(session: string, secret: string): string {
  return `/shared/${session}#share=${secret}`;
}

/** Returns the same part of the address that logs a browser in. */
export function codePath(code: string): string {
  return `/#code=${code}`;
}
