import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import { createPasteReader } from "../../src/cli/process/paste-reader.ts";
import { testSize } from "../helpers/size.ts";

const START = "\u001b[200~";
const END = "\u001b[201~";

type Piece = readonly ["keys" | "paste", string];

/** Reads the texts one after the other, and then until the given number of pastes has come. */
async function read(texts: readonly string[], pastes: number): Promise<Piece[]> {
  const pieces: [Piece[0], string][] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = pastes;
  const reader = createPasteReader({
    keys: (text) => {
      const last = pieces.at(-1);
      if (last?.[0] === "keys") {
        last[1] += text;
      } else {
        pieces.push(["keys", text]);
      }
    },
    paste: (text) => {
      pieces.push(["paste", text]);
      left -= 1;
      if (left === 0) {
        // keys after the last one are returned in the same turn
        queueMicrotask(resolve);
      }
    },
    unended: () => undefined,
  });
  for (const text of texts) {
    reader.read(text);
  }
  if (pastes === 0) {
    resolve();
  }
  await promise;
  reader.close();
  return pieces;
}

describe("the input of a terminal", () => {
  it("[CLI-70] is split into keys and pastes, wherever the reads are cut", async () => {
    const sent = `ab${START}one\r/exit\r${END}\r${START}two${END}c\u001b[A`;
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(sent.length), { maxLength: 12 }), async (places) => {
        const cuts = [0, ...places.sort((a, b) => a - b), sent.length];
        const torn = cuts.slice(1).map((end, index) => sent.slice(cuts[index], end));
        expect(await read(torn, 2)).toEqual([
          ["keys", "ab"],
          ["paste", "one\r/exit\r"],
          ["keys", "\r"],
          ["paste", "two"],
          ["keys", "c\u001b[A"],
        ]);
      }),
      { numRuns: testSize("texts") },
    );
  });

  it("[CLI-71] is one paste if the pasted text holds an end mark", async () => {
    expect(await read([`${START}a${END}\r/end\ry\r${END}`, "\r"], 1)).toEqual([
      ["paste", "a\r/end\ry\r"],
      ["keys", "\r"],
    ]);
  });

  it.each(["\u0003", "\u0004"])(
    "[CLI-71] is keys again after a paste without an end when %j is typed",
    async (key) => {
      expect(await read([`a${START}rm -rf build\r`, key], 0)).toEqual([["keys", `a${key}`]]);
    },
  );

  it("[CLI-102] reports a paste without an end once, and not one that has ended or was dropped", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let reported = 0;
    const reader = createPasteReader({
      keys: () => undefined,
      paste: () => undefined,
      unended: () => (reported += 1),
    });
    const after = (text: string, ms: number): number => {
      reader.read(text);
      vi.advanceTimersByTime(ms);
      return reported;
    };
    expect(after(`${START}one${END}`, 9000)).toBe(0);
    expect([after(`${START}one`, 900), after("two", 900)]).toEqual([0, 0]);
    expect([after("", 1000), after("\r", 9000)]).toEqual([1, 1]);
    expect([after("\u0003", 9000), after(`${START}three`, 1000)]).toEqual([1, 2]);
    // Ctrl-C of the Kitty keyboard protocol
    expect([after("\u001b[99;5u", 9000), after(`${START}again`, 1000)]).toEqual([2, 3]);
    after(`${END}${START}four`, 0);
    reader.close();
    vi.advanceTimersByTime(9000);
    expect(reported).toBe(3);
  });
});
