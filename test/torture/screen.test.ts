import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { type FixturePrograms, FIXTURE_PROGRAMS_VARIABLE } from "../helpers/fixture-programs.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { ask } from "../helpers/on-first-ask.ts";
import { randomOf } from "../helpers/random.ts";
import { freshHome } from "../helpers/reprise.ts";
import { openScreen, type TestScreen } from "../helpers/screen.ts";
import { testSize } from "../helpers/size.ts";
import { CTRL_D } from "../helpers/terminal.ts";

const { folder } = await ask<FixturePrograms>(FIXTURE_PROGRAMS_VARIABLE);

/** Erases the screen or the scrollback. */
// oxlint-disable-next-line no-control-regex -- these are the sequences
const NEVER = /\u001b\[[23]J/;

const SEEDS = Array.from({ length: testSize("screens") }, (_, seed) => seed);
const SHELL_ROWS = 61;

/** Prints the rows of a shell, and runs a command below them. */
function belowShell(command: string): string {
  return `for i in $(seq 1 ${SHELL_ROWS}); do echo "shell row $i"; done; exec ${command}`;
}

/** How many rows of the shell are left, whole and in order. */
function shellRows(rows: readonly string[]): string[] {
  return rows.filter((row) => /^shell row \d+$/.test(row));
}

/** Changes the size at random moments: after so many more characters were written. */
async function resizeAtRandom(screen: TestScreen, random: () => number): Promise<void> {
  const between = (least: number, most: number): number =>
    least + Math.floor(random() * (most - least + 1));
  for (let count = 0; count < 8; count += 1) {
    const written = screen.written().length + between(1, 1500);
    await screen.until(() => screen.written().length >= written);
    const columns = between(20, 140);
    screen.resize(columns, between(8, 50));
    if (random() < 0.5) {
      screen.resize(Math.max(20, columns + between(-3, 3)), between(8, 50));
    }
  }
  screen.resize(100, 30);
}

describe("a terminal whose size changes at any moment", () => {
  it.each(SEEDS)(
    "[TERM-2] keeps the shell's rows and no rest of live rows, seed %i",
    async (seed) => {
      const random = randomOf(seed);
      const reflow = seed % 2 === 0;
      const screen = openScreen(
        freshHome(),
        belowShell(`'${process.execPath}' '${join(folder, "live-rows.js")}' 1500`),
        { columns: 100, rows: 30, reflow, env: reflow ? {} : { XTERM_VERSION: "XTerm(390)" } },
      );
      await screen.until(/word40\b/);
      await resizeAtRandom(screen, random);
      await screen.until(/all words were written/);
      await screen.until(/^status -{92}$/m);
      screen.type("q");
      expect(await screen.finished).toBe(0);
      const rows = screen.everything();
      expect(rows.filter((row) => /^(?:> |status )/.test(row))).toEqual([]);
      expect(shellRows(rows)).toHaveLength(SHELL_ROWS);
      expect(screen.written()).not.toMatch(NEVER);
    },
  );

  it.each(SEEDS)("[TERM-2] leaves no rest of a session, seed %i", async (seed) => {
    const words = Array.from({ length: 600 }, (_, index) => `word${index}`);
    const content = words.map((word, index) => word + (index % 40 === 39 ? "\n\n" : " ")).join("");
    const server = await startModelServer({
      answer: () => ({ content }),
      latencyMs: 4,
      chunkSize: 10,
    });
    const home = freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
    const screen = openScreen(home, belowShell("reprise"), { columns: 100, rows: 30 });
    await screen.until(/^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type("the question\r");
    await screen.until(/word10\b/);
    await resizeAtRandom(screen, randomOf(seed));
    await screen.until(/word599[^]*^[a-z]+ ⇧⇥ · (?=[~/…n])/m);
    screen.type(CTRL_D);
    expect(await screen.finished).toBe(0);
    const rows = screen.everything();
    expect(rows.filter((row) => /^(?:ready|working) ·/.test(row))).toEqual([]);
    expect(shellRows(rows)).toHaveLength(SHELL_ROWS);
    expect(screen.written()).not.toMatch(NEVER);
  });
});

describe("a terminal that takes nothing", () => {
  it("[TERM-7] stops no program, and its memory stays bounded", async () => {
    const home = freshHome();
    const file = join(home.home, "flooded.json");
    const screen = openScreen(
      home,
      `'${process.execPath}' '${join(folder, "flood-rows.js")}' 100 '${file}'`,
    );
    await screen.until(/^ready$/m);
    screen.pause();
    screen.type("f");
    await expect.poll(() => existsSync(file)).toBe(true);
    const report: unknown = JSON.parse(readFileSync(file, "utf8"));
    screen.resume();
    expect(await screen.finished).toBe(0);
    expect(screen.written()).toMatch(/… \d+ rows are missing here/);
    expect(report).toEqual({
      megabytes: expect.toSatisfy((growth: number) => growth < 150),
      turns: expect.toSatisfy((turns: number) => turns > 10),
    });
  });
});
