import { setImmediate } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { createMessageCache, PAGE_SIZE } from "../../../web/session/message-cache.ts";
import { messageInfo } from "./messages.ts";

const TOTAL = 5000;

/** A cache over a session of 5,000 messages that notes what it reads. */
function readCache(more: Partial<Parameters<typeof createMessageCache>[0]> = {}) {
  const reads: { after: number; before: number }[] = [];
  const cache = createMessageCache({
    read: async (after, before) => {
      reads.push({ after, before });
      const count = Math.min(TOTAL, before - 1) - after;
      return Array.from({ length: count }, (_, index) => messageInfo(after + 1 + index));
    },
    changed: () => undefined,
    ...more,
  });
  return { cache, reads };
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) {
    await setImmediate();
  }
}

describe("messages near to where somebody reads", () => {
  it("[PAGE-60] reads what is missing of the pages that are wanted, once, and nothing else", async () => {
    const { cache, reads } = readCache();
    cache.put([messageInfo(4999), messageInfo(5000)]);
    cache.want(4950, TOTAL);
    await until(() => cache.get(4950) !== undefined);
    cache.want(4950, TOTAL);
    cache.want(1050, 1120);
    await until(() => cache.get(1050) !== undefined && cache.get(1120) !== undefined);
    expect(reads).toEqual([
      { after: 4900, before: 4999 },
      { after: 1000, before: 1101 },
      { after: 1100, before: 1121 },
    ]);
    expect(cache.get(3000)).toBeUndefined();
  });

  it("[PAGE-60] keeps a bounded number of pages and characters, but always those in view", async () => {
    for (const limits of [{ maxPages: 3 }, { maxCharacters: 3 * PAGE_SIZE * 10 }]) {
      const { cache } = readCache(limits);
      for (let first = 1; first < 1500; first += PAGE_SIZE) {
        cache.want(first, first + PAGE_SIZE - 1);
        await until(() => cache.get(first) !== undefined);
        expect(cache.get(first + PAGE_SIZE - 1)).toBeDefined();
      }
      expect(cache.get(1)).toBeUndefined();
      const kept = Array.from({ length: 1500 }, (_, index) => cache.get(index + 1));
      expect(kept.filter((message) => message !== undefined).length).toBeLessThanOrEqual(
        3 * PAGE_SIZE,
      );
    }
  });

  it("[PAGE-60] skips what a reader who moved on no longer sees", async () => {
    const begun: number[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const { cache } = readCache({
      read: async (after) => {
        begun.push(after);
        await promise;
        return [messageInfo(after + 1)];
      },
    });
    for (let first = 1; first < 2000; first += PAGE_SIZE) {
      cache.want(first, first + PAGE_SIZE - 1);
    }
    expect(begun).toEqual([0, PAGE_SIZE]);
    resolve();
    await until(() => begun.length > 2);
    expect(begun[2]).toBe(1900);
    cache.close();
  });

  it("[PAGE-60] reads again after a failure, and takes the parts of a page that was cut", async () => {
    let isAway = true;
    let answers = 0;
    const { cache } = readCache({
      retryMs: 1,
      read: async (after, before) => {
        if (isAway) {
          throw new Error("away");
        }
        answers += 1;
        return [messageInfo(after + 1)].filter(({ seq }) => seq < before);
      },
    });
    cache.want(1, 5);
    // it stays away until the error was seen: under load, the next attempt would clear it before
    await until(() => cache.error !== null);
    isAway = false;
    await until(() => cache.get(5) !== undefined);
    expect(cache.error).toBeNull();
    expect(answers).toBe(5);
  });
});
