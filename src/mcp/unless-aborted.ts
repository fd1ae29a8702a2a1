/** Waits for work, and rejects when the signal is aborted: a server that never answers must not hold up its closing. */
export async function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const stop = Promise.withResolvers<never>();
  const onAbort = (): void => stop.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) {
    onAbort();
  }
  try {
    return await Promise.race([work, stop.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
