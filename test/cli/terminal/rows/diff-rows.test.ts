import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { expect, it } from "vitest";

import { diffRows } from "../../../../src/cli/terminal/rows/diff-rows.ts";
import { createTheme } from "../../../../src/cli/terminal/text/themes.ts";

const plain = createTheme({ env: {}, setting: "none" });
const dark = createTheme({ env: { TERM: "xterm" } });

const LINES = Array.from({ length: 12 }, (_, at) => `line ${at + 1}`);
const CHANGED = LINES.toSpliced(1, 1, "second\u001b[2J", "-- a").toSpliced(11, 1, "++ b\t漢字");
const DIFF = createTwoFilesPatch("a.ts", "a.ts", LINES.join("\n"), CHANGED.join("\n"), "", "", {
  context: 1,
  headerOptions: FILE_HEADERS_ONLY,
});

it("[TERM-27] a diff has line numbers and signs, and shows controls as symbols", () => {
  expect(diffRows(DIFF, { theme: plain, width: 40 })).toEqual([
    " 1   line 1",
    " 2 - line 2",
    " 2 + second␛[2J",
    " 3 + -- a",
    " 4   line 3",
    "   ⋮",
    "11   line 10",
    "11 - line 11",
    "12 + ++ b    漢字",
    "13   line 12",
    "   \\ No newline at end of file",
  ]);
});

it("[TERM-27] added and removed lines have a style besides the sign; long ones are wrapped below their text", () => {
  expect(diffRows("@@ -1,1 +1,1 @@\n-one two\n+three four", { theme: dark, width: 8 })).toEqual([
    "\u001b[31m- \u001b[39m\u001b[31mone\u001b[39m",
    "  \u001b[31mtwo\u001b[39m",
    "\u001b[32m+ \u001b[39m\u001b[32mthree\u001b[39m",
    "  \u001b[32mfour\u001b[39m",
  ]);
});

it("[TERM-27] a line is what the counts of its part say, whatever it looks like", () => {
  const diff = "--- a\n+++ b\n@@ -1,2 +1,1 @@\n--- a\n-@@ -9 +9 @@\n+@@ -1 +1 @@\n--- c\nend";
  expect(diffRows(diff, { theme: plain, width: 40 })).toEqual([
    "1 - -- a",
    "2 - @@ -9 +9 @@",
    "1 + @@ -1 +1 @@",
    "  --- c",
    "  end",
  ]);
  expect(diffRows("", { theme: plain, width: 40 })).toEqual([]);
});
