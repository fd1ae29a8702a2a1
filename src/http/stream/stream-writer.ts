import type { ServerResponse } from "node:http";

import type { Deadlines } from "../unsent/deadlines.ts";

/** Bytes given to the socket at once: each slice that it takes is progress. */
const SLICE_BYTES = 16 * 1024;

/**
 * Makes the only way in which a stream's messages are written: it resolves when the system has taken
 * all bytes, or the client is gone. So no more than one page waits for a slow client. A client that
 * takes no slice in its time is cut by `stalls`.
 *
 * A socket's own timer would start again once although the client took nothing, because it compares
 * the bytes that wait now with those of the last write.
 */
export function createStreamWriter(
  response: ServerResponse,
  {
    stalls,
    progress,
  }: { readonly stalls: Deadlines<ServerResponse>; readonly progress: (bytes: number) => void },
): (bytes: Buffer) => Promise<void> {
  let release: (() => void) | null = null;
  const gone = (): void => {
    stalls.end(response);
    release?.();
  };
  response.once("close", gone);
  const writeSlice = (slice: Buffer): Promise<void> =>
    new Promise((resolve) => {
      release = resolve;
      stalls.begin(response);
      response.write(slice, () => {
        stalls.end(response);
        progress(slice.length);
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
