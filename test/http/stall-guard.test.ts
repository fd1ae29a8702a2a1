import { describe, expect, it } from "vitest";

import { createStallGuard, type Every } from "../../src/http/stream/stall-guard.ts";

/** A timer that a test moves on, and how often one was started. */
function fakeTimer() {
  let now = 0;
  let started = 0;
  let timer: { readonly ms: number; readonly tick: () => void; next: number } | null = null;
  const every: Every = (ms, tick) => {
    started += 1;
    timer = { ms, tick, next: now + ms };
    return () => {
      timer = null;
    };
  };
  return {
    every,
    now: () => now,
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
    /** Time in which the process does nothing: one tick is late, the others never come. */
    freeze: (ms: number): void => {
      now += ms;
      if (timer !== null && timer.next <= now) {
        timer.next = now + timer.ms;
        timer.tick();
      }
    },
  };
}

describe("the guard against readers that take nothing", () => {
  it("[HTTP-79] cuts a reader after its time, once, although much was written just before", () => {
    const time = fakeTimer();
    const guard = createStallGuard(5000, time.every);
    const cut: number[] = [];
    guard.waits("reader", () => cut.push(time.now()));
    time.advance(4999);
    expect(cut).toEqual([]);
    time.advance(501);
    expect(cut).toEqual([5500]);
    time.advance(60_000);
    expect(cut).toHaveLength(1);
    expect(time.started()).toBe(1);
    expect(time.running()).toBe(false);
  });

  it("[HTTP-79] starts a reader's time again with each slice that it takes", () => {
    const time = fakeTimer();
    const guard = createStallGuard(5000, time.every);
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

  it("[HTTP-79] does not count time in which the process itself was blocked", () => {
    const time = fakeTimer();
    const guard = createStallGuard(5000, time.every);
    let cut = 0;
    guard.waits("reader", () => {
      cut += 1;
    });
    time.freeze(60_000);
    time.advance(4900);
    expect(cut).toBe(0);
    time.advance(600);
    expect(cut).toBe(1);
  });

  it("[HTTP-79] runs one timer for all readers, and none when nobody waits", () => {
    const time = fakeTimer();
    const guard = createStallGuard(5000, time.every);
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
