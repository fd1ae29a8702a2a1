import { FAILED_LOGINS, FAILED_LOGINS_MS } from "../../core/access.ts";
import { RepriseError } from "../../core/errors.ts";

/** Counts the failed logins of the last minute by the address that they came from. */
export interface FailedLogins {
  /** Counts one more, and returns the error to answer it with: `login_refused` or `too_many_logins`. */
  add(address: string): RepriseError;
}

/** Addresses that are counted at most; then the one that failed longest ago is forgotten. */
const MAX_ADDRESSES = 1000;

export function createFailedLogins(now: () => number = () => performance.now()): FailedLogins {
  // in the order in which they failed last
  const failed = new Map<string, readonly number[]>();
  return {
    add: (address) => {
      const times = (failed.get(address) ?? []).filter((time) => now() - time < FAILED_LOGINS_MS);
      if (times.length >= FAILED_LOGINS) {
        return tooMany();
      }
      failed.delete(address);
      failed.set(address, [...times, now()]);
      const [oldest] = failed.keys();
      if (failed.size > MAX_ADDRESSES && oldest !== undefined) {
        failed.delete(oldest);
      }
      return new RepriseError(
        "login_refused",
        "This code, token or link is not valid, or not any more. Log in with the service's token, or ask for a new link.",
      );
    },
  };
}

function tooMany(): RepriseError {
  return new RepriseError(
    "too_many_logins",
    `Too many logins from this address have failed; wait a minute. ${FAILED_LOGINS} may fail in a minute; a valid token, code or link still logs in.`,
  );
}
