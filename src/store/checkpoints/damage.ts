import { NoResultError } from "kysely";

import { isRepriseError, RepriseError } from "../../core/errors.ts";

/** A checkpoint whose rows do not fit together. */
export function damagedCheckpoint(): RepriseError {
  return new RepriseError(
    "database_corrupt",
    "A checkpoint of this session is damaged in the database. Restore a backup, or continue in a new session.",
  );
}

/**
 * True for what reading a checkpoint throws if its rows do not fit together, not for failures of
 * the database.
 */
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
