import { setTimeout as sleep } from "node:timers/promises";

import { isRepriseError } from "../../core/errors.ts";

/** A stream that could not read asks again after this long, and up to half as long again. */
const RETRY_MS = 500;

/**
 * Reads for a stream, again and again while the database is away. Null once the session was deleted, so that
 * the stream ends and a client that asks again gets 404, or once the signal is aborted.
 */
export async function readWhenThere<Output>(
  read: () => Promise<Output | null>,
  signal: AbortSignal,
): Promise<Output | null> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (error) {
      if (isRepriseError(error, "session_not_found")) {
        return null;
      }
      if (!isRepriseError(error, "database_unavailable", "database_locked")) {
        throw error;
      }
    }
    // all streams of a node begin again together, so they spread
    const wait = RETRY_MS * (1 + Math.random() / 2);
    await sleep(wait, null, { signal }).catch(() => undefined);
  }
  return null;
}
