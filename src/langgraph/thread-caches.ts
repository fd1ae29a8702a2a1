import { createThreadCache, type ThreadCache, type Weight } from "./thread-cache.ts";

export type ThreadCaches = ReturnType<typeof createThreadCaches>;

/** UTF-16 units kept for all threads but the one used last. */
const WEIGHT_KEPT = 64 * 1024 * 1024;
/** An empty cache has no weight, but takes a kilobyte. */
const CACHES_KEPT = 1000;

/** The caches of the threads used last. */
export function createThreadCaches() {
  const caches = new Map<string, ThreadCache>();
  const total: Weight = { weight: 0 };
  const forget = (threadId: string): void => {
    const cache = caches.get(threadId);
    if (cache !== undefined) {
      caches.delete(threadId);
      total.weight -= cache.weight;
      // a call that still uses it adds to it in vain
      cache.total = { weight: 0 };
    }
  };
  const mustForget = (): boolean =>
    caches.size > CACHES_KEPT || (total.weight > WEIGHT_KEPT && caches.size > 1);
  return {
    of: (threadId: string): ThreadCache => {
      const cache = caches.get(threadId) ?? createThreadCache(total);
      caches.delete(threadId);
      caches.set(threadId, cache);
      for (const oldest of caches.keys()) {
        if (!mustForget()) {
          break;
        }
        forget(oldest);
      }
      return cache;
    },
    forget,
    /** Forgets the cache of a thread of which nothing is known: it may not exist. */
    forgetEmpty: (threadId: string): void => {
      const { bodies, heads } = caches.get(threadId) ?? {};
      if (bodies?.size === 0 && heads?.size === 0) {
        forget(threadId);
      }
    },
  };
}
