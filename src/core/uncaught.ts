/**
 * Reports an error of somebody else's listener as Node's EventTarget does, as an uncaught exception:
 * who called the listener continues, and the mistake is not hidden.
 */
export function throwUncaught(error: unknown): void {
  process.nextTick(() => {
    throw error;
  });
}
