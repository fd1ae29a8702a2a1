/** Gives turns, one at a time for each key, in the order of the calls; the result ends a turn. */
export function createTurns(): (key: string) => Promise<() => void> {
  const last = new Map<string, Promise<void>>();
  return async (key) => {
    const before = last.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    last.set(key, promise);
    await before;
    return () => {
      if (last.get(key) === promise) {
        last.delete(key);
      }
      resolve();
    };
  };
}
