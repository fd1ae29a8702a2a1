/** How work is shared among those who ask for it. */
export interface SingleFlightOptions<Output> {
  /** Never runs twice at a time, however long it takes. */
  readonly work: () => Promise<Output>;
  /** A result is reused for this long, failures too. */
  readonly freshMs: number;
  /** Nobody waits longer than this after the work began. */
  readonly patienceMs: number;
  /** What those get who would have to wait longer. */
  readonly late: () => Error;
}

/**
 * Lets any number of callers cost no more than one piece of work at a time and one every
 * `freshMs`: who asks meanwhile gets the same result. Work that takes longer than `patienceMs` goes
 * on; until it ends, every caller gets `late` at once.
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
      freshUntil = performance.now() + sharing.freshMs;
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
  { patienceMs, late }: SingleFlightOptions<Output>,
): Promise<Output> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), patienceMs);
  try {
    return await Promise.race([done, promise]);
  } finally {
    clearTimeout(timer);
  }
}
