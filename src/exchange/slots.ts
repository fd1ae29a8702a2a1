/** A number of slots; whoever finds none free waits, in order. */
export interface Slots {
  isFree(): boolean;
  /** Rejects with the signal's reason if it is aborted before a slot is free. */
  take(signal: AbortSignal): Promise<void>;
  /** Takes the next free slot, before all who wait already. */
  takeFirst(): Promise<void>;
  giveBack(): void;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    isFree: () => free > 0,
    take: async (signal) => {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const onAbort = (): void => {
        const at = waiting.indexOf(resolve);
        if (at >= 0) {
          waiting.splice(at, 1);
          reject(signal.reason);
        }
      };
      waiting.push(resolve);
      signal.addEventListener("abort", onAbort, { once: true });
      await promise.finally(() => signal.removeEventListener("abort", onAbort));
    },
    takeFirst: async () => {
      if (free > 0) {
        free -= 1;
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.unshift(resolve);
      await promise;
    },
    giveBack: () => {
      const next = waiting.shift();
      if (next === undefined) {
        free += 1;
      } else {
        next();
      }
    },
  };
}
