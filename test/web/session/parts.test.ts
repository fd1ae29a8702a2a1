import { describe, expect, it } from "vitest";

import { diffLines } from "../../../web/parts/diff-lines.ts";
import { highlight } from "../../../web/parts/code/highlight.ts";

describe("parts of the page", () => {
  it("[PAGE-65] gives each line of a diff its sign and its numbers in both files", () => {
    const diff = [
      "--- a/x",
      "+++ b/x",
      "@@ -3,3 +3,3 @@",
      " same",
      "--- removed",
      "+++ added",
      " end",
      "@@ -20 +20,2 @@",
      " a",
      "+b",
      "\\ No newline at end of file",
    ].join("\n");
    expect(
      diffLines(diff).map(({ sign, before, after, text }) => [sign, before, after, text]),
    ).toEqual([
      [" ", 3, 3, "same"],
      ["-", 4, null, "-- removed"],
      ["+", null, 4, "++ added"],
      [" ", 5, 5, "end"],
      [null, null, null, "⋮"],
      [" ", 20, 20, "a"],
      ["+", null, 21, "b"],
      [null, null, null, "\\ No newline at end of file"],
    ]);
  });

  it.each([
    ["ts", 'const a = "<b>&amp;" && `x${1}`;'],
    ["py", "def f(x):\n    return '<script>' # \u202e done"],
    ["html", '<img src=x onerror="alert(1)">&#x27;'],
    ["c++", "#include <a>\nint main() { return 'x'; }"],
  ])("[PAGE-64] colours %s without changing a character", (language, code) => {
    const runs = highlight(code, language);
    expect(runs?.map(({ text }) => text).join("")).toBe(code);
    expect(runs?.some(({ kind }) => kind !== null)).toBe(true);
    expect(runs?.every(({ kind }) => kind === null || /^[\w-]+$/.test(kind))).toBe(true);
  });

  it("[PAGE-64] leaves languages that nobody knows as they are", () => {
    expect(highlight("a", "constructor")).toBeNull();
    expect(highlight("a", "klingon")).toBeNull();
  });
});
