import { describe, expect, it } from "vitest";

import { createDeadlines, type Every } from "../../src/http/unsent/deadlines.ts";

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

/** Deadlines of 5 s as streams have them for readers that take nothing. */
function deadlinesOf5s() {
  const time = fakeTimer();
  const cut: [reader: string, at: number][] = [];
  const deadlines = createDeadlines<string>(
    { tickMs: 500, ticks: 11, every: time.every },
    (reader) => cut.push([reader, time.now()]),
  );
  return { time, cut, deadlines };
}

describe("the deadlines of readers that take nothing", () => {
  it("[HTTP-79] cuts a reader after its time, once, although much was written just before", () => {
    const { time, cut, deadlines } = deadlinesOf5s();
    deadlines.begin("reader");
    time.advance(4999);
    expect(cut).toEqual([]);
    time.advance(501);
    expect(cut).toEqual([["reader", 5500]]);
    time.advance(60_000);
    expect(cut).toHaveLength(1);
    expect(time.started()).toBe(1);
    expect(time.running()).toBe(false);
  });

  it("[HTTP-79] starts a reader's time again with each slice that it takes", () => {
    const { time, cut, deadlines } = deadlinesOf5s();
    deadlines.begin("silent");
    for (let slice = 0; slice < 10; slice += 1) {
      deadlines.begin("slow");
      time.advance(4000);
    }
    expect(cut.map(([reader]) => reader)).toEqual(["silent"]);
    deadlines.end("slow");
    time.advance(60_000);
    expect(cut).toHaveLength(1);
  });

  it("[HTTP-79] does not count time in which the process itself was blocked", () => {
    const { time, cut, deadlines } = deadlinesOf5s();
    deadlines.begin("reader");
    time.freeze(60_000);
    time.advance(4900);
    expect(cut).toEqual([]);
    time.advance(600);
    expect(cut).toHaveLength(1);
  });

  it("[HTTP-79] runs one timer for all readers, and none when nobody waits", () => {
    const { time, deadlines } = deadlinesOf5s();
    const readers = Array.from({ length: 100 }, (_, index) => `reader ${index}`);
    for (const reader of readers) {
      deadlines.begin(reader);
    }
    expect(time.started()).toBe(1);
    for (const reader of readers) {
      deadlines.end(reader);
    }
    time.advance(500);
    expect(time.running()).toBe(false);
    deadlines.begin("reader");
    expect(time.started()).toBe(2);
  });

  it("[HTTP-31] a key that begins again when it is due is due again after the same time", () => {
    const time = fakeTimer();
    const due: number[] = [];
    const deadlines = createDeadlines<string>(
      { tickMs: 100, ticks: 5, every: time.every },
      (key) => {
        due.push(time.now());
        deadlines.begin(key);
      },
    );
    deadlines.begin("stream");
    time.advance(1600);
    expect(due).toEqual([500, 1000, 1500]);
  });
});
