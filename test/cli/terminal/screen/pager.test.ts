import { describe, expect, it } from "vitest";

import { createPager, type PagerResult } from "../../../../src/cli/terminal/screen/pager.ts";
import { visibleWidth } from "../../../../src/cli/terminal/pi/text.ts";
import { createTheme } from "../../../../src/cli/terminal/text/themes.ts";

const [UP, DOWN, PAGE_UP, PAGE_DOWN] = ["\u001b[A", "\u001b[B", "\u001b[5~", "\u001b[6~"];

describe("the pager", () => {
  it("[TERM-56] scrolls by rows, half pages, pages and to both ends", () => {
    const { press, first } = pagerOf(numbered(100));
    // 8 of 10 rows are text
    const steps = [
      [DOWN, 1],
      ["j", 2],
      ["\r", 3],
      [UP, 2],
      ["k", 1],
      ["k", 0],
      ["k", 0],
      [" ", 8],
      [PAGE_DOWN, 16],
      ["\u0006", 24],
      [PAGE_UP, 16],
      ["b", 8],
      ["d", 12],
      ["u", 8],
      ["G", 92],
      [" ", 92],
      ["g", 0],
      ["\u001b[F", 92],
      ["\u001b[H", 0],
    ] as const;
    for (const [key, row] of steps) {
      press(key);
      expect([key, first()]).toEqual([key, `row ${row}`]);
    }
  });

  it("[TERM-56] shows title, position and keys, and wraps what is too wide at words", () => {
    const { screen } = pagerOf(["one two three four five six", "\tend"], "a title that is long");
    expect(screen(20, 6)).toEqual([
      "a title that … 100 %",
      "one two three four",
      "five six",
      "    end",
      "~",
      "Space next page  / …",
    ]);
    expect(screen(50, 6)[0]).toBe(`a title that is long${" ".repeat(12)}2 of 2 rows, 100 %`);
  });

  it("[TERM-56] searches on from the first row shown, forwards and backwards", () => {
    const rows = numbered(100).map((row, index) => (index % 30 === 7 ? `${row} Needle` : row));
    const { press, first, last } = pagerOf(rows);
    press(
      "/",
      ...Array.from("neddle"),
      "\u007f",
      "\u007f",
      "\u007f",
      "\u007f",
      ...Array.from("edle"),
      "\r",
    );
    expect(last()).toBe("match in row 8");
    expect(first()).toBe("row 7 Needle");
    press("n");
    expect(first()).toBe("row 37 Needle");
    press("n", "n");
    expect([first(), last()]).toEqual(["row 92", "match in row 98"]);
    press("n");
    expect(last()).toBe("no match below");
    press("N");
    expect(first()).toBe("row 67 Needle");
    press("g", "N");
    expect(last()).toBe("no match above");
    press("/", ...Array.from("NEEDLE"), "\r");
    expect(last()).toBe("no match below");
    press("/", "x", "\u001b", " ");
    expect(first()).toBe("row 8");
  });

  it("[TERM-56] marks matches in rows that have styles", () => {
    const theme = createTheme({ env: { TERM: "xterm-256color" } });
    const rows = [theme.error("a red needle"), theme.error("red")];
    const { press, screen } = pagerOf(rows, "", theme);
    press("/", ...Array.from("red n"), "\r");
    expect(screen(40, 5).slice(1, 3)).toEqual([theme.selected("a red needle"), theme.error("red")]);
  });

  it("[TERM-57] says that all was seen only if each row was on the screen", () => {
    const { press, screen, results, last } = pagerOf([...numbered(19), "wide ".repeat(40).trim()]);
    press("G", "g");
    expect(last()).toMatch(/^8 not seen yet {2}Space next page/);
    press("q");
    press(" ");
    screen(40, 10);
    press("\u001b");
    expect(results).toEqual([{ seenAll: false }, { seenAll: true }]);
  });

  it("[TERM-57] a row that is wrapped was seen when all of it was, also after a change of the width", () => {
    const { press, screen, results } = pagerOf(["word ".repeat(100).trim()]);
    screen(20, 10);
    press("q");
    screen(21, 10);
    press("G");
    screen(21, 10);
    press("q");
    expect(results.map(({ seenAll }) => seenAll)).toEqual([false, false]);
    screen(200, 10);
    press("q");
    expect(results.at(-1)).toEqual({ seenAll: true });
    const none = pagerOf([]);
    none.screen(40, 10);
    none.press("\u0003");
    expect(none.results).toEqual([{ seenAll: true }]);
  });

  it("[TERM-57] a window without a row for text shows nothing of it", () => {
    const results: PagerResult[] = [];
    const pager = createPager({
      theme: createTheme({ env: { NO_COLOR: "1" } }),
      title: "title",
      rows: ["a"],
      on: { changed: () => undefined, done: (result) => void results.push(result) },
    });
    pager.rows(40, 2);
    pager.key("q");
    pager.rows(40, 3);
    pager.key("q");
    expect(results).toEqual([{ seenAll: false }, { seenAll: true }]);
  });

  it("[TERM-53] fits each size, and keeps its place when the width changes", () => {
    const rows = Array.from(
      { length: 50 },
      (_, index) => `${index} 日本語 ${"👩‍👩‍👧 text ".repeat(20)}`,
    );
    const { press, screen } = pagerOf(rows, "日本語".repeat(50));
    for (const [width, height] of [
      [80, 24],
      [40, 15],
      [3, 3],
      [1, 1],
      [200, 50],
    ] as const) {
      const shown = screen(width, height);
      expect(shown).toHaveLength(height);
      expect(Math.max(...shown.map((row) => visibleWidth(row)))).toBeLessThanOrEqual(width);
    }
    press("g");
    for (let row = 0; row < 30; row++) {
      press(DOWN);
    }
    const [, at = ""] = screen(200, 12);
    const before = Number.parseInt(at, 10);
    screen(60, 12);
    const [, after = ""] = screen(200, 12);
    expect([before, Number.parseInt(after, 10)]).toEqual([before, before]);
  });
});

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `row ${index}`);
}

function pagerOf(
  rows: readonly string[],
  title = "title",
  theme = createTheme({ env: { NO_COLOR: "1" } }),
) {
  const results: PagerResult[] = [];
  const on = { changed: () => undefined, done: (result: PagerResult) => void results.push(result) };
  const pager = createPager({ theme, title, rows, on });
  const screen = (width: number, height: number): readonly string[] => pager.rows(width, height);
  screen(40, 10);
  return {
    results,
    screen,
    /** Each key after the screen has shown what the one before it did. */
    press: (...keys: readonly string[]): void => {
      for (const key of keys) {
        pager.key(key);
        screen(40, 10);
      }
    },
    first: () => screen(40, 10)[1],
    last: () => screen(40, 10).at(-1),
  };
}
