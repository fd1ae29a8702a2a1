import { describe, expect, it } from "vitest";

import { createStallGuard, type StallClock } from "../../src/http/stall-guard.ts";

/** A clock that a test moves, which counts how often a timer was started. */
function fakeClock() {
  let now = 0;
  let started = 0;
  let timer: { readonly ms: number; readonly tick: () => void; next: number } | null = null;
  const clock: StallClock = {
    now: () => now,
    every: (ms, tick) => {
      started += 1;
      timer = { ms, tick, next: now + ms };
      return () => {
        timer = null;
      };
    },
  };
  return {
    clock,
    started: () => started,
    running: () => timer !== null,
    advance: (ms: number): void => {
      const end = now + ms;
      while (timer !== null && timer.next <= end) {
        now = timer.next;
        timer.next += timer.ms;
        timer.tick();
      }
      now = end;
    },
  };
}

describe("the guard against readers that take nothing", () => {
  it("[HTTP-79] cuts one after its time, once, although much was written just before", () => {
    const time = fakeClock();
    const guard = createStallGuard(5000, time.clock);
    const cut: number[] = [];
    guard.waits("reader", () => cut.push(time.clock.now()));
    time.advance(4999);
    expect(cut).toEqual([]);
    time.advance(501);
    expect(cut).toEqual([5000]);
    time.advance(60_000);
    expect(cut).toHaveLength(1);
    expect(time.started()).toBe(1);
    expect(time.running()).toBe(false);
  });

  it("[HTTP-79] starts a reader's time again with each slice that it takes", () => {
    const time = fakeClock();
    const guard = createStallGuard(5000, time.clock);
    const cut: string[] = [];
    for (let slice = 0; slice < 10; slice += 1) {
      guard.waits("slow", () => cut.push("slow"));
      if (slice === 0) {
        guard.waits("silent", () => cut.push("silent"));
      }
      time.advance(4000);
    }
    expect(cut).toEqual(["silent"]);
    guard.took("slow");
    time.advance(60_000);
    expect(cut).toEqual(["silent"]);
  });

  it("[HTTP-79] runs one timer for all readers, and none when nobody waits", () => {
    const time = fakeClock();
    const guard = createStallGuard(5000, time.clock);
    const readers = Array.from({ length: 100 }, (_, index) => ({ index }));
    for (const reader of readers) {
      guard.waits(reader, () => undefined);
    }
    expect(time.started()).toBe(1);
    for (const reader of readers) {
      guard.took(reader);
    }
    time.advance(500);
    expect(time.running()).toBe(false);
    guard.waits(readers, () => undefined);
    expect(time.started()).toBe(2);
  });
});
