import type { ServerResponse } from "node:http";

import type { StallGuard } from "./stall-guard.ts";

/** Bytes given to the socket at once: each slice that it takes is progress. */
const SLICE_BYTES = 16 * 1024;

/**
 * Makes the only way in which a stream's messages are written: it resolves when the system has taken
 * all bytes, or the client is gone. So no more than one page waits for a slow client. `stalled` is
 * called when it takes no slice in the guard's time.
 */
export function createStreamWriter(
  response: ServerResponse,
  guard: StallGuard,
  stalled: () => void,
): (bytes: Buffer) => Promise<void> {
  let release: (() => void) | null = null;
  const gone = (): void => {
    guard.took(response);
    release?.();
  };
  response.once("close", gone);
  const writeSlice = (slice: Buffer): Promise<void> =>
    new Promise((resolve) => {
      release = resolve;
      guard.waits(response, stalled);
      response.write(slice, () => {
        guard.took(response);
        resolve();
      });
    });
  return async (bytes) => {
    for (let at = 0; at < bytes.length && !response.destroyed; at += SLICE_BYTES) {
      await writeSlice(bytes.subarray(at, at + SLICE_BYTES));
    }
    release = null;
  };
}
