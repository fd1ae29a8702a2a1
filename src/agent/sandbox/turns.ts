/**
 * Gives turns, one at a time for each key, in the order of the calls; the result ends a turn. Rejects with the
 * reason of the signal once that is aborted while others have their turn.
 */
export function createTurns(): (key: string, signal?: AbortSignal) => Promise<() => void> {
  const last = new Map<string, Promise<void>>();
  return async (key, signal) => {
    const before = last.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    last.set(key, promise);
    const release = (): void => {
      if (last.get(key) === promise) {
        last.delete(key);
      }
      resolve();
    };
    try {
      await withSignal(before, signal);
    } catch (error) {
      // the next one waits for those before this one all the same
      void before?.then(release);
      throw error;
    }
    return release;
  };
}

async function withSignal(
  work: Promise<void> | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([work, promise]);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
