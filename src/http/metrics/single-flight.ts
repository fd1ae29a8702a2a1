/** How work is shared among those who ask for it. */
export interface SingleFlightOptions<Output> {
  /** Never runs twice at a time, however long it takes. */
  readonly work: () => Promise<Output>;
  /** A result is reused for this long, failures too. */
  readonly ttlMs: number;
  /** How long callers wait at most after the work began. */
  readonly timeoutMs: number;
  /** The error of callers that would have to wait longer. */
  readonly timeoutError: () => Error;
}

/**
 * Runs the work of any number of callers at most once at a time and once every `ttlMs`: callers in
 * between share the result. Work that takes longer than `timeoutMs` continues; until it ends, every
 * caller gets `timeoutError` at once.
 */
export function singleFlight<Output>(sharing: SingleFlightOptions<Output>): () => Promise<Output> {
  let answer: Promise<Output> | null = null;
  let freshUntil = 0;
  return () => {
    if (answer !== null && performance.now() < freshUntil) {
      return answer;
    }
    const done = sharing.work();
    const settled = (): void => {
      answer = done;
      freshUntil = performance.now() + sharing.ttlMs;
    };
    done.then(settled, settled);
    freshUntil = Number.POSITIVE_INFINITY;
    answer = within(done, sharing);
    // callers handle the error; if there is none, it is not an unhandled rejection
    answer.catch(() => undefined);
    return answer;
  };
}

async function within<Output>(
  done: Promise<Output>,
  { timeoutMs, timeoutError }: SingleFlightOptions<Output>,
): Promise<Output> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(timeoutError()), timeoutMs);
  try {
    return await Promise.race([done, promise]);
  } finally {
    clearTimeout(timer);
  }
}
