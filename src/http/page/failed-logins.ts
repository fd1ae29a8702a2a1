import { FAILED_LOGINS, FAILED_LOGINS_MS } from "../../core/access.ts";
import { RepriseError } from "../../core/errors.ts";

/** Counts the failed logins of the last minute. */
export interface FailedLogins {
  /** Error codes: `too_many_logins`. */
  refuseMore(): void;
  /** Counts one more, and returns the error to answer it with. */
  add(): RepriseError;
}

export function createFailedLogins(now: () => number = () => performance.now()): FailedLogins {
  let times: number[] = [];
  const isFull = (): boolean => {
    times = times.filter((time) => now() - time < FAILED_LOGINS_MS);
    return times.length >= FAILED_LOGINS;
  };
  return {
    refuseMore: () => {
      if (isFull()) {
        throw tooMany();
      }
    },
    add: () => {
      if (isFull()) {
        return tooMany();
      }
      times.push(now());
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
    `Too many logins have failed; wait a minute. The service compares at most ${FAILED_LOGINS} wrong tokens in a minute.`,
  );
}
