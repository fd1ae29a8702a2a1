import type { JSONRPCMessage } from "@modelcontextprotocol/client";

/** Messages that a server may send unasked at once, and more of them in each second. */
const NOTICES = { max: 1000, perSecond: 200 };
const REQUESTS = { max: 1000, perSecond: 10 };

/**
 * Returns a check of what a server sends unasked. Notifications that are too many are dropped: progress is all that is lost. Too
 * many requests end the connection, since each of them is answered.
 */
export function unaskedLimit(onTooMany: () => void): (message: JSONRPCMessage) => boolean {
  const notices = budget(NOTICES);
  const requests = budget(REQUESTS);
  let isOver = false;
  return (message) => {
    if (!("method" in message)) {
      return !isOver;
    }
    if (!("id" in message)) {
      return !isOver && notices();
    }
    if (!isOver && !requests()) {
      isOver = true;
      onTooMany();
    }
    return !isOver;
  };
}

/** Returns true as often as there is something left. */
function budget({ max, perSecond }: typeof NOTICES): () => boolean {
  let left = max;
  let at = performance.now();
  return () => {
    const now = performance.now();
    left = Math.min(max, left + ((now - at) / 1000) * perSecond);
    at = now;
    if (left < 1) {
      return false;
    }
    left -= 1;
    return true;
  };
}
