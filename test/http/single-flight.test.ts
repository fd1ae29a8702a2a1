import { expect, it } from "vitest";

import { singleFlight } from "../../src/http/metrics/single-flight.ts";

const HOUR = 3_600_000;
const timeoutError = () => new Error("late");

/** Work that ends when a test ends it. */
function heldWork() {
  const begun: PromiseWithResolvers<number>[] = [];
  return {
    begun,
    work: () => {
      const next = Promise.withResolvers<number>();
      begun.push(next);
      return next.promise;
    },
  };
}

it("[HTTP-42] [HTTP-107] runs work once for all who ask while it runs and while its result is fresh", async () => {
  const { begun, work } = heldWork();
  const ask = singleFlight({ work, ttlMs: HOUR, timeoutMs: HOUR, timeoutError });
  const asked = Array.from({ length: 100 }, () => ask());
  expect(begun).toHaveLength(1);
  begun[0]?.resolve(7);
  expect(new Set(await Promise.all(asked))).toEqual(new Set([7]));
  expect(await ask()).toBe(7);
  expect(begun).toHaveLength(1);
});

it("[HTTP-42] shares a failure as long as a success, and starts again after it", async () => {
  const { begun, work } = heldWork();
  const ask = singleFlight({ work, ttlMs: 20, timeoutMs: HOUR, timeoutError });
  const first = ask();
  begun[0]?.reject(new Error("no"));
  await expect(first).rejects.toThrow("no");
  let failures = 0;
  while (begun.length === 1) {
    await Promise.race([ask(), new Promise((resolve) => setTimeout(resolve, 1))]).catch(() => {
      failures += 1;
    });
  }
  expect(failures).toBeGreaterThan(0);
  begun[1]?.resolve(8);
  expect(await ask()).toBe(8);
});

it("[HTTP-42] refuses at once while work takes too long, starts no second, and uses its result in the end", async () => {
  const { begun, work } = heldWork();
  const ask = singleFlight({ work, ttlMs: HOUR, timeoutMs: 10, timeoutError });
  await expect(ask()).rejects.toThrow("late");
  await expect(ask()).rejects.toThrow("late");
  expect(begun).toHaveLength(1);
  begun[0]?.resolve(9);
  expect(await begun[0]?.promise).toBe(9);
  expect(await ask()).toBe(9);
});
