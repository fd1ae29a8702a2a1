import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { randomOf, seedOf } from "../../helpers/random.ts";
import { openResizedAnswer, type ResizedAnswer, SHELL_ROWS } from "../../helpers/resized-answer.ts";
import { testSize } from "../../helpers/size.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Erases the screen or the scrollback. */
// oxlint-disable-next-line no-control-regex -- these are the sequences
const NEVER = /\u001b\[[23]J/;

/** The narrowest terminal, and what finished rows have in one that cuts its rows when it gets narrower. */
const NARROWEST = 16;
const STEPS = 300;

const WRAPS_KNOWN = { wraps: true, isKnown: true };
const WRAPS_UNKNOWN = { wraps: true, isKnown: false };
const KEEPS_ROWS = { wraps: false, isKnown: true, columns: NARROWEST };

type Below = (count: number) => number;

/** Narrower, wider, another height, or any size. */
function resize({ terminal }: ResizedAnswer, below: Below): void {
  const { columns, rows } = terminal.size;
  const other = [columns, columns - 1 - below(60), columns + 1 + below(60), NARROWEST + below(110)][
    below(4)
  ];
  terminal.resize({
    columns: Math.min(140, Math.max(NARROWEST, other ?? columns)),
    rows: below(2) === 0 ? rows : 6 + below(30),
  });
}

/** Several sizes one after the other, with some of what was written, or nothing, read between them. */
function burst(answer: ResizedAnswer, below: Below): void {
  for (let left = 1 + below(4); left > 0; left -= 1) {
    resize(answer, below);
    answer.terminal.read(below(2) * below(60));
  }
}

/** A view that has the alternate screen for a while. */
function toggleView({ terminal, renderer }: ResizedAnswer, isShown: boolean): void {
  if (isShown) {
    terminal.raw.draw("\u001b[?1049l");
    renderer.enter();
  } else {
    renderer.pause();
    terminal.raw.draw("\u001b[?1049ha view");
  }
}

/** What the program, its terminal, the kernel and the person do, in an order that the numbers choose. */
async function inAnyOrder(answer: ResizedAnswer, below: Below): Promise<void> {
  const { terminal } = answer;
  let isShown = false;
  const acts: readonly (readonly [number, () => void])[] = [
    [400, answer.word],
    [550, () => vi.advanceTimersByTime(below(60))],
    [750, () => terminal.read(1 + below(below(3) === 0 ? 60 : 2000))],
    [850, terminal.answer],
    [900, () => burst(answer, below)],
    [945, terminal.learn],
    [990, terminal.notify],
    [1000, () => toggleView(answer, isShown)],
  ];
  for (let left = STEPS; left > 0; left -= 1) {
    const number = below(1000);
    const chosen = acts.findIndex(([limit]) => number < limit);
    acts[chosen]?.[1]();
    isShown = isShown !== (chosen === acts.length - 1);
    await answer.react();
  }
  if (isShown) {
    toggleView(answer, isShown);
  }
}

describe("finished rows of an answer that is resized while it streams", () => {
  it.each([
    ["wraps again", WRAPS_KNOWN],
    ["wraps again, which is not known", WRAPS_UNKNOWN],
    ["does not wrap again", KEEPS_ROWS],
  ])(
    "[TERM-117] [TERM-119] are never lost, in whatever order sizes change, are learned and frames are read: the terminal %s",
    async (_, kind) => {
      const first = seedOf("sizes that are learned late");
      for (let seed = first; seed < first + testSize("late-sizes"); seed += 1) {
        const random = randomOf(seed);
        const below: Below = (count) => Math.floor(random() * count);
        const answer = openResizedAnswer({
          ...kind,
          size: { columns: 30 + below(90), rows: 8 + below(25) },
          paragraph: 5 + below(40),
        });
        await inAnyOrder(answer, below);
        const { missing, shell } = await answer.end();
        expect(missing, `words that are missing, seed ${seed}`).toEqual([]);
        expect(shell, `rows of the shell, seed ${seed}`).toBe(SHELL_ROWS);
        expect(answer.terminal.written()).not.toMatch(NEVER);
        answer.terminal.close();
      }
    },
  );

  it("[TERM-2] [TERM-117] are there once, without a row of the old size, if nothing is on its way when the size changes", async () => {
    const first = seedOf("sizes that are learned at once");
    for (let seed = first; seed < first + Math.ceil(testSize("late-sizes") / 5); seed += 1) {
      const random = randomOf(seed);
      const below: Below = (count) => Math.floor(random() * count);
      const answer = openResizedAnswer({
        ...WRAPS_KNOWN,
        size: { columns: 30 + below(90), rows: 60 },
        paragraph: 5 + below(20),
      });
      answer.renderer.finish(Array.from({ length: 60 }, () => "a row from before"));
      for (let left = 60; left > 0; left -= 1) {
        answer.word();
        if (below(4) === 0) {
          await answer.settle();
          const columns = 30 + below(110);
          answer.terminal.resize({ columns, rows: 55 + below(20) });
          await answer.settle();
          expect(answer.renderer.width, `seed ${seed}`).toBe(columns);
        }
      }
      const found = await answer.end();
      expect(found, `seed ${seed}`).toEqual({
        missing: [],
        twice: [],
        live: 0,
        shell: SHELL_ROWS,
      });
      answer.terminal.close();
    }
  });

  it("[TERM-2] leave no row of the old size if live rows were changed before the program learns of the new one", async () => {
    const answer = openResizedAnswer({
      ...WRAPS_KNOWN,
      size: { columns: 80, rows: 30 },
      paragraph: 60,
    });
    answer.renderer.finish(Array.from({ length: 30 }, () => "a row from before"));
    for (let word = 1; word <= 59; word += 1) {
      answer.word();
      if (word > 54) {
        answer.terminal.resize({ columns: 80 - 3 * (word - 54), rows: 30 });
        vi.advanceTimersByTime(40);
      }
      await answer.react();
      answer.terminal.read(Infinity);
      await answer.settle();
    }
    expect(answer.terminal.everything().filter((row) => /^(?:status|>)/.test(row))).toHaveLength(2);
    expect(await answer.end()).toMatchObject({ missing: [], live: 0 });
  });

  it("[TERM-119] are printed again if the terminal gets narrower while it reads them", async () => {
    const answer = openResizedAnswer({
      ...WRAPS_KNOWN,
      size: { columns: 60, rows: 20 },
      paragraph: 12,
    });
    await answer.settle();
    for (let word = 1; word <= 12; word += 1) {
      answer.word();
    }
    vi.advanceTimersByTime(40);
    while (!/<10/.test(answer.terminal.written())) {
      answer.terminal.read(1);
    }
    answer.terminal.resize({ columns: 20, rows: 20 });
    answer.terminal.read(Infinity);
    expect(answer.terminal.everything().join("")).not.toContain("<8>");
    const found = await answer.end();
    expect(found.missing).toEqual([]);
    expect(found.twice).toContain(1);
  });

  it("[TERM-119] are printed again if the terminal gets wider before it erases what it had wrapped", async () => {
    const answer = openResizedAnswer({
      ...WRAPS_KNOWN,
      size: { columns: 60, rows: 30 },
      paragraph: 5,
    });
    for (let word = 1; word <= 58; word += 1) {
      answer.word();
      await answer.settle();
    }
    answer.terminal.resize({ columns: 20, rows: 30 });
    answer.terminal.learn();
    answer.terminal.notify();
    await answer.react();
    answer.terminal.read(Infinity);
    answer.terminal.answer();
    // the erasing for 20 columns is on its way
    await answer.react();
    expect(answer.terminal.unread()).toBeGreaterThan(0);
    answer.terminal.resize({ columns: 100, rows: 30 });
    answer.terminal.read(Infinity);
    expect(answer.terminal.everything().join("")).not.toContain("<55>");
    expect(await answer.end()).toMatchObject({ missing: [], twice: [] });
  });
});
