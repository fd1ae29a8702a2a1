import { describe, expect, it } from "vitest";

import { localTime, shortAge } from "../../../../src/cli/output/ages.ts";
import { measureFor } from "../../../../src/cli/terminal/text/measure.ts";
import { shortCount } from "../../../../src/cli/terminal/text/amounts.ts";
import { type Column, tableRows } from "../../../../src/cli/terminal/text/table.ts";
import { createTheme } from "../../../../src/cli/terminal/text/themes.ts";

interface Row {
  readonly name: string;
  readonly note: string;
  readonly mark?: string;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    heading: "NAME",
    cell: ({ name, mark }) => ({
      texts: [name],
      ...(mark === undefined ? {} : { marks: [mark, "+"] }),
    }),
    priority: 0,
    min: 6,
    good: 8,
  },
  { heading: "NOTE", cell: ({ note }) => ({ texts: [note] }), priority: 1, min: 4, keepsEnd: true },
];

async function rowsOf(rows: readonly Row[], width: number): Promise<string[]> {
  const measure = await measureFor(rows.flatMap(({ name, note }) => [name, note]));
  return tableRows(COLUMNS, rows, {
    width,
    theme: createTheme({ env: { TERM: "dumb" } }),
    measure,
  });
}

describe("a table", () => {
  it("[TERM-60] widens the important columns first, cuts what does not fit and leaves out the rest", async () => {
    const rows = [{ name: "abcdefghij", note: "/a/long/path" }];
    expect(await rowsOf(rows, 30)).toEqual(["NAME        NOTE", "abcdefghij  /a/long/path"]);
    expect(await rowsOf(rows, 18)).toEqual(["NAME      NOTE", "abcdefg…  …ng/path"]);
    expect(await rowsOf(rows, 12)).toEqual(["NAME    NOTE", "abcde…  …ath"]);
    expect(await rowsOf(rows, 11)).toEqual(["NAME", "abcdefghij"]);
    expect(await rowsOf(rows, 3)).toEqual(["NA…", "ab…"]);
    expect(await rowsOf([{ name: "a", note: "" }], 30)).toEqual(["NAME", "a"]);
  });

  it("[TERM-60] keeps a mark after a text that is cut, and shortens it before it takes most of the cell", async () => {
    const rows = [{ name: "abcdefghijklmnop", note: "", mark: "[two]" }];
    expect((await rowsOf(rows, 22))[1]).toBe("abcdefghijklmnop [two]");
    expect((await rowsOf(rows, 15))[1]).toBe("abcdefgh… [two]");
    expect((await rowsOf(rows, 10))[1]).toBe("abcdefg… +");
  });

  it("[TERM-60] counts display columns: a wide character that would be cut in half is left out", async () => {
    const rows = [{ name: "日本語日本語", note: "e\u0301é👩‍👩‍👧" }];
    expect(await rowsOf(rows, 30)).toEqual(["NAME          NOTE", "日本語日本語  e\u0301é👩‍👩‍👧"]);
    expect(await rowsOf(rows, 12)).toEqual(["NAME    NOTE", "日本…   e\u0301é👩‍👩‍👧"]);
    expect(await rowsOf(rows, 4)).toEqual(["NAME", "日…"]);
  });
});

describe("numbers in a table", () => {
  it("[TERM-60] are short, and never rounded up to four digits", () => {
    const counts = [0, 999, 1000, 9949, 9950, 99_499, 999_499, 999_500, 1_560_059, 2e10];
    expect(counts.map(shortCount)).toEqual("0 999 1.0k 9.9k 10k 99k 999k 1.0M 1.6M 20G".split(" "));
  });

  it("[TERM-60] [TERM-65] ages become days of the calendar, and times are local", () => {
    const now = new Date(2026, 10, 23, 12).getTime();
    const before = (milliseconds: number): string => shortAge(now - milliseconds, now);
    const day = 24 * 3_600_000;
    expect(
      [-5000, 59_000, 300_000, 3 * 3_600_000, 30 * day, 40 * day, 400 * day].map(before),
    ).toEqual(["now", "now", "5 min", "3 h", "30 d", "Oct 14", "Oct 2025"]);
    const local = new Date(2026, 0, 31, 4, 2, 9).toISOString();
    expect(localTime(local)).toBe("2026-01-31 04:02");
    expect(localTime(local, "second")).toBe("2026-01-31 04:02:09");
    expect(localTime("no time")).toBe("no time");
  });
});
