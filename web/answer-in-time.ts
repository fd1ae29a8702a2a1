/** Milliseconds. */
const ANSWER_MS = 10_000;

/**
 * As `send`, but an answer that has not begun in time is none, and its connection is closed. A connection that a network
 * has dropped without a word stays open for minutes, and a browser has only six for each host.
 */
export function answerInTime(send: typeof fetch, ms = ANSWER_MS): typeof fetch {
  return async (input, init = {}) => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ms);
    const signal = AbortSignal.any([late.signal, ...(init.signal ? [init.signal] : [])]);
    try {
      return await send(input, { ...init, signal });
    } finally {
      clearTimeout(timer);
    }
  };
}
