import type { ServerResponse } from "node:http";

import type { StreamPagesInTurn } from "../unsent/pages-in-turn.ts";
import type { Deadlines } from "../unsent/deadlines.ts";
import type { HeartbeatTarget } from "./heartbeats.ts";

/** Bytes given to the socket at once: each slice that it takes is progress. */
const SLICE_BYTES = 16 * 1024;

/** Timers that all streams share. */
export interface StreamTimers {
  readonly heartbeats: Deadlines<HeartbeatTarget>;
  /** Cuts a client that takes nothing. */
  readonly stalls: Deadlines<ServerResponse>;
}

/**
 * What a stream sends with, the only way in which its messages are written. No more than one page waits for a slow
 * client; one that takes no slice in its time is cut by `stalls`.
 *
 * A socket's own timer would start again once although the client took nothing, because it compares
 * the bytes that wait now with those of the last write.
 */
export class StreamOutput {
  readonly #response: ServerResponse;
  readonly #pages: StreamPagesInTurn;
  readonly #timers: StreamTimers;
  readonly #over = new AbortController();
  #release: (() => void) | null = null;

  constructor(response: ServerResponse, pages: StreamPagesInTurn, timers: StreamTimers) {
    this.#response = response;
    this.#pages = pages;
    this.#timers = timers;
    // writing to a connection that was just closed is not an error
    response.on("error", () => this.abort());
    response.on("close", () => this.#gone());
  }

  /** Aborted when the client is gone or the service shuts down. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  abort(): void {
    this.#over.abort();
  }

  /** Writes to the client; resolves when the system has taken all bytes, or the client is gone. */
  async write(bytes: Buffer): Promise<void> {
    this.#timers.heartbeats.begin(this.#response);
    for (let at = 0; at < bytes.length && !this.#response.destroyed; at += SLICE_BYTES) {
      await this.#writeSlice(bytes.subarray(at, at + SLICE_BYTES));
    }
    this.#release = null;
  }

  #writeSlice(slice: Buffer): Promise<void> {
    const { stalls } = this.#timers;
    return new Promise((resolve) => {
      this.#release = resolve;
      stalls.begin(this.#response);
      this.#response.write(slice, () => {
        stalls.end(this.#response);
        this.#pages.progress(slice.length);
        resolve();
      });
    });
  }

  #gone(): void {
    this.abort();
    this.#timers.stalls.end(this.#response);
    this.#release?.();
  }
}
