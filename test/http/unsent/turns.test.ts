import { setImmediate as nextTurn } from "node:timers/promises";

import { describe, expect, it } from "vitest";

import { createFairLine } from "../../../src/http/unsent/fair-line.ts";
import { createTurns } from "../../../src/http/unsent/turns.ts";

/** Keeps the event loop for so many milliseconds. */
function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    // nothing else runs
  }
}

describe("a fair line", () => {
  it("[HTTP-248] serves everybody once before anybody again, and each in the order of coming", () => {
    const line = createFairLine<string>();
    for (const entry of ["a1", "a2", "a3", "b1", "c1", "c2"]) {
      line.add(entry.slice(0, 1), entry);
    }
    expect(line.first).toBe("a1");
    expect(line.length).toBe(6);
    const served = Array.from({ length: 7 }, () => line.next());
    expect(served).toEqual(["a1", "b1", "c1", "a2", "c2", "a3", undefined]);
    expect(line.length).toBe(0);
  });

  it("[HTTP-56] can serve the small entries of one first", () => {
    const line = createFairLine<number>((size) => size);
    for (const size of [6, 3, 9, 3]) {
      line.add("a", size);
    }
    line.add("b", 7);
    expect(Array.from({ length: 5 }, () => line.next())).toEqual([3, 7, 3, 6, 9]);
  });
});

describe("turns", () => {
  it("[HTTP-248] run one at a time, each in a separate turn of the event loop, everybody's in order", async () => {
    const turns = createTurns({ isPressed: () => false });
    const events: string[] = [];
    let loops = 0;
    let isOver = false;
    const counting = (async () => {
      for (; !isOver; loops += 1) {
        await nextTurn();
      }
    })();
    const run = async (who: string): Promise<number> => {
      const end = await turns.take(who);
      events.push(`${who} begins`);
      const loop = loops;
      await nextTurn();
      events.push(`${who} ends`);
      end();
      return loop;
    };
    const seen = await Promise.all(["a", "a", "a", "b", "c"].map(run));
    isOver = true;
    await counting;
    expect(events).toEqual(
      ["a", "b", "c", "a", "a"].flatMap((who) => [`${who} begins`, `${who} ends`]),
    );
    expect(new Set(seen).size).toBe(5);
    expect(turns.waiting).toBe(0);
  });

  it("[HTTP-248] are followed by pauses while others wait, longer ones while nobody reads", async () => {
    const pauses: number[] = [];
    let isPressed = false;
    const turns = createTurns({
      isPressed: () => isPressed,
      after: (ms, next) => {
        pauses.push(ms);
        setImmediate(next);
      },
    });
    const work = async (ms: number): Promise<void> => {
      const end = await turns.take("a");
      compute(ms);
      end();
    };
    // the last of several has nobody after it
    await Promise.all([work(20), work(20)]);
    isPressed = true;
    await Promise.all([work(20), work(20)]);
    const [usual = 0, last, pressed = 0] = pauses;
    expect(usual).toBeGreaterThanOrEqual(40);
    expect(last).toBe(0);
    expect(pressed).toBeGreaterThanOrEqual(400);
  });

  it("[HTTP-248] that only wait for the database keep nobody waiting", async () => {
    const turns = createTurns({ isPressed: () => false });
    // never ended
    await turns.take("a");
    const end = await turns.take("a");
    end();
    expect(turns.waiting).toBe(0);
  });
});
