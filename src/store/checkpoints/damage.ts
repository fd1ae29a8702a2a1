import { NoResultError } from "kysely";

import { isRepriseError, RepriseError } from "../../core/errors.ts";

/** A checkpoint whose rows do not fit together. */
export function damagedCheckpoint(): RepriseError {
  return new RepriseError(
    "database_corrupt",
    "A checkpoint of this session is damaged in the database; restore a backup, or go on in a new session.",
  );
}

/** What reading a checkpoint throws whose rows do not fit together. Failures of the database pass. */
export function isDamage(error: unknown): boolean {
  return (
    error instanceof SyntaxError ||
    error instanceof RangeError ||
    error instanceof TypeError ||
    error instanceof NoResultError ||
    isRepriseError(error, "database_corrupt")
  );
}

/** Reads a checkpoint; what does not fit together is refused with `database_corrupt`. */
export async function refusingDamage<Output>(read: () => Promise<Output>): Promise<Output> {
  try {
    return await read();
  } catch (error) {
    throw isDamage(error) && !isRepriseError(error) ? damagedCheckpoint() : error;
  }
}
