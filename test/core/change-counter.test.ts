import { getEventListeners } from "node:events";

import { expect, it } from "vitest";

import { ChangeCounter } from "../../src/core/change-counter.ts";

it("misses no change after the count that was taken, and wakes everybody who waits", async () => {
  const changes = new ChangeCounter();
  const { signal } = new AbortController();
  const before = changes.count;
  changes.add();
  await changes.changed(before, signal);

  const woken: string[] = [];
  const waiting = ["first", "second"].map(async (name) => {
    await changes.changed(changes.count, signal);
    woken.push(name);
  });
  await Promise.resolve();
  expect(woken).toEqual([]);
  changes.add();
  await Promise.all(waiting);
  expect(woken).toEqual(["first", "second"]);
});

it("waits no longer than its signal, and leaves no listener on it", async () => {
  const changes = new ChangeCounter();
  const over = new AbortController();
  const changed = changes.changed(changes.count, over.signal);
  changes.add();
  await changed;
  expect(getEventListeners(over.signal, "abort")).toEqual([]);

  const aborted = changes.changed(changes.count, over.signal);
  over.abort();
  await aborted;
  expect(getEventListeners(over.signal, "abort")).toEqual([]);
  await changes.changed(changes.count, over.signal);
});
