import { setImmediate as nextTurn } from "node:timers/promises";

import { expect, it } from "vitest";

import { createOneByOne } from "../../src/http/unsent/one-by-one.ts";

it("[PLAN-78] plans that come together are checked one after the other, each in a separate turn", async () => {
  const inTurn = createOneByOne();
  let turn = 0;
  let over = false;
  const turns = (async (): Promise<void> => {
    while (!over) {
      turn += 1;
      await nextTurn();
    }
  })();
  const seen = await Promise.all(Array.from({ length: 20 }, () => inTurn(() => turn)));
  over = true;
  await turns;
  expect(new Set(seen).size).toBe(20);
  const failed = inTurn(() => {
    throw new Error("one that fails");
  });
  await expect(Promise.all([failed, inTurn(() => 1)])).rejects.toThrow("one that fails");
  expect(await inTurn(() => 2)).toBe(2);
});
