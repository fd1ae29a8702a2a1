import { setTimeout as sleep } from "node:timers/promises";

/** Calls that wait at once, at most; others are answered at once. */
const MAX_WAITS = 32;
/** Time between two reads of what is waited for. */
const POLL_MS = 250;

/** Waits for something that is read again and again. Shared by all calls of a server. */
export class Waits {
  #waiting = 0;

  /** Reads until it is over, the time has passed or the caller has gone, and returns what was read last. */
  async until<Value>(
    read: () => Promise<Value>,
    isOver: (value: Value) => boolean,
    { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
  ): Promise<Value> {
    const end = performance.now() + seconds * 1000;
    let value = await read();
    if (isOver(value) || this.#waiting >= MAX_WAITS) {
      return value;
    }
    this.#waiting += 1;
    try {
      while (!isOver(value) && performance.now() < end && !signal.aborted) {
        await sleep(Math.min(POLL_MS, end - performance.now()), undefined, { signal }).catch(
          () => undefined,
        );
        value = await read();
      }
      return value;
    } finally {
      this.#waiting -= 1;
    }
  }
}
