import { setImmediate as nextTurn } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { createKeyGuard } from "../../../../src/cli/terminal/questions/key-guard.ts";

it("[TERM-40] a pause that ends while it is read leaves no warning on the screen", async () => {
  const warnings: string[] = [];
  const heard = ({ name }: Error): number => warnings.push(name);
  process.on("warning", heard);
  onTestFinished(() => void process.off("warning", heard));
  let pauses = 0;
  for (let begin = 0; begin < 3000; begin += 1) {
    let clock = begin;
    const now = (): number => (clock += 2);
    const guard = createKeyGuard({ changed: () => undefined, now, lastTyped: () => 0 });
    pauses += Number(guard.isPausing());
  }
  await nextTurn();
  expect(pauses).toBeGreaterThan(0);
  expect(pauses).toBeLessThan(3000);
  expect(warnings).toEqual([]);
});
