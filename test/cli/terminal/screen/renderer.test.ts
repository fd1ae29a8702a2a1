import { join } from "node:path";

import { describe, expect, it } from "vitest";

import {
  type FixturePrograms,
  FIXTURE_PROGRAMS_VARIABLE,
} from "../../../helpers/fixture-programs.ts";
import { ask } from "../../../helpers/on-first-ask.ts";
import { freshHome } from "../../../helpers/reprise.ts";
import { seededRandom } from "../../../helpers/random.ts";
import { openScreen, type ScreenOptions, type TestScreen } from "../../../helpers/screen.ts";

const { folder } = await ask<FixturePrograms>(FIXTURE_PROGRAMS_VARIABLE);

/** A shell's own rows, and below them a program that prints words and draws its last rows again. */
function liveRows(words: number, options: ScreenOptions): TestScreen {
  const program = join(folder, "live-rows.js");
  return openScreen(
    freshHome(),
    `for i in $(seq 1 61); do echo "shell row $i"; done; exec '${process.execPath}' '${program}' ${words}`,
    options,
  );
}

/**
 * How often each of the words is in the rows. A terminal may have broken one of them in two, and below the last one of a
 * paragraph may be the second half of a live one: so each ends with a sign.
 */
function wordsIn(rows: readonly string[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const [, word] of rows
    .join("")
    .replaceAll(" ", "")
    .matchAll(/word(\d+);/g)) {
    counts.set(Number(word), (counts.get(Number(word)) ?? 0) + 1);
  }
  return counts;
}

/** Erases the screen or the scrollback. */
// oxlint-disable-next-line no-control-regex -- these are the sequences
const NEVER = /\u001b\[[23]J/;

describe("rows below what a program prints", () => {
  it.each([true, false])(
    "[TERM-1] [TERM-2] leave no rest when the size changes while they are drawn (terminal that wraps again: %s)",
    async (reflow) => {
      const screen = liveRows(1000, {
        columns: 100,
        rows: 30,
        reflow,
        env: reflow ? {} : { XTERM_VERSION: "XTerm(390)" },
      });
      await screen.until(/word40\b/);
      let held = "";
      const type = async (key: string): Promise<void> => {
        held += key;
        screen.type(key);
        await screen.until((text) => text.split("\n").includes(`> ${held}`));
      };
      for (const columns of [80, 60, 40, 70, 100]) {
        await type("p");
        // nothing is on its way to the terminal when its size changes, and the program has read what the terminal
        // answered before these keys: after its first answer it draws all rows once more
        await type("x");
        await type("x");
        screen.resize(columns, 30);
        await screen.until((text) => new RegExp(`^status -{${columns - 8}}$`, "m").test(text));
        await type("p");
      }
      await screen.until(/all words were written/);
      screen.type("q");
      expect(await screen.finished).toBe(0);
      const rows = screen.everything();
      expect(rows.filter((row) => /^shell row \d+$/.test(row))).toHaveLength(61);
      expect(rows.filter((row) => /^(?:> |status )/.test(row))).toEqual([]);
      const words = wordsIn(rows);
      if (reflow) {
        expect([...words].filter(([, count]) => count > 1)).toEqual([]);
        expect(words.size).toBe(1000);
      }
      expect(screen.written()).not.toMatch(NEVER);
      expect(screen.written().length / 1000).toBeLessThan(160);
    },
  );

  it("[TERM-117] [TERM-119] lose no finished row, when the program learns late of other sizes", async () => {
    const random = seededRandom("resized");
    const below = (count: number): number => Math.floor(random() * count);
    const screen = liveRows(1200, { columns: 100, rows: 30, reflow: true });
    await screen.until(/word40\b/);
    let isDone = false;
    const written = screen.until(/all words were written/).then(() => (isDone = true));
    while (!isDone) {
      const delay = [0, 5, 40, 150][below(4)] ?? 0;
      screen.resize(30 + below(90), 15 + below(20), delay);
      await Promise.race([
        written,
        new Promise((resolve) => setTimeout(resolve, delay + below(400))),
      ]);
    }
    // the last size is learned after all others
    screen.resize(99, 30, 200);
    await screen.until(/^status -{91}$/m);
    screen.type("q");
    expect(await screen.finished).toBe(0);
    const words = wordsIn(screen.everything());
    const all = Array.from({ length: 1200 }, (_, at) => at + 1);
    expect(all.filter((word) => !words.has(word))).toEqual([]);
    expect(screen.written()).not.toMatch(NEVER);
  });

  it("[TERM-3] Ctrl-Z gives the terminal back, and fg draws again below what the shell printed", async () => {
    const screen = openScreen(freshHome(), null, { columns: 80, rows: 24 });
    await screen.until(/^\$$/m);
    screen.type(`'${process.execPath}' '${join(folder, "live-rows.js")}' 100000\r`);
    await screen.until(/status -+\n?/);
    screen.type("\u001a");
    await screen.until(/Stopped/);
    screen.type("echo in the $((1 + 1))nd shell\r");
    await screen.until(/^in the 2nd shell$/m);
    expect(screen.text()).not.toMatch(/^status /m);
    screen.type("fg\r");
    await screen.until(/^in the 2nd shell$[^]*^status -+$/m);
    screen.type("abc");
    await screen.until(/^> .abc$/m);
    screen.type("q");
    await screen.until(/^\$$/m);
    screen.type("exit\r");
    expect(await screen.finished).toBe(0);
  });
});
