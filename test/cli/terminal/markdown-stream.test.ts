import fc from "fast-check";
import { expect, it } from "vitest";

import { createMarkdown, createMarkdownStream } from "../../../src/cli/terminal/markdown.ts";
import { createHighlighter } from "../../../src/cli/terminal/markdown/highlight.ts";
import { visibleWidth } from "../../../src/cli/terminal/pi/text.ts";
import { createTheme } from "../../../src/cli/terminal/text/themes.ts";
import { testSize } from "../../helpers/size.ts";

const theme = createTheme({ env: { TERM: "xterm", FORCE_COLOR: "1" } });
const highlighter = createHighlighter(theme);
await highlighter.load();
const markdown = createMarkdown({ theme, highlighter });

const MARKS =
  "\n|\n\n| |  |    |- |1. |> |# |```|```ts\n|~~~|---|===|\n---\n|* * *|- [x] |**|*|_|`|[x](http://a.b/c)|" +
  "https://a.b/c?d=e|\\|&amp;|&#27;|<br>|!|[|](|\t|/* |*/|\u001b[31m|漢字|👩‍👩‍👧|e\u0301|\u202e|\r\n";
const PIPES = ["|", "|---|---|\n", "a | b\n"];
const piece = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...MARKS.split("|"), ...PIPES) },
  { weight: 6, arbitrary: fc.nat(999).map((n) => `word${n}`) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.nat(700), fc.constantFrom("x", "word ", "漢", "**a ", "[", "- ", "> ", "| a ", "`"))
      .map(([count, text]) => text.repeat(count)),
  },
);
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });

it("[TERM-24] of many lines of code that wait for the colours, a few are kept", () => {
  const stream = createMarkdownStream({
    theme,
    highlighter: createHighlighter(theme),
    width: () => 40,
  });
  expect(stream.add(`\`\`\`ts\n${"a\n".repeat(600)}`).length).toBe(600);
});

/** What is held back until more of its line is there. */
const MARKS_ONLY = /(^|\n)[\s\-+*_=#>`~|:.)\d[\]]*$/;

it("[TERM-20] what is final while an answer streams, with the rest, is what the whole text gives", () => {
  fc.assert(
    fc.property(text, cuts, fc.integer({ min: 4, max: 120 }), (source, sizes, width) => {
      const stream = createMarkdownStream({ theme, highlighter, width: () => width });
      const rows: string[] = [];
      for (let [at, turn] = [0, 0]; at < source.length; turn += 1) {
        const end = at + (sizes[turn % sizes.length] ?? 1) + Math.floor(source.length / 40);
        rows.push(...stream.add(source.slice(at, end)));
        at = end;
        const live = stream.live();
        if (!MARKS_ONLY.test(source.slice(0, end))) {
          expect([...rows, ...live]).toEqual(markdown.rows(source.slice(0, end), width));
        }
      }
      expect([...rows, ...stream.end()]).toEqual(markdown.rows(source, width));
      for (const row of rows) {
        expect(visibleWidth(row)).toBeLessThanOrEqual(width);
        // oxlint-disable-next-line no-control-regex -- the sequences of styles and links
        expect(row.replaceAll(/\u001b(?:\[[\d;]*m|\]8;;[!-~]*\u001b\\)/g, "")).not.toMatch(
          /\p{Cc}/u,
        );
      }
    }),
    { numRuns: testSize("markdown") },
  );
});

it("[TERM-21] every word is shown", () => {
  fc.assert(
    fc.property(text, (source) => {
      const shown = wordsOf(markdown.rows(source, 10_000).join("\n"));
      expect(wordsOf(source).filter((word) => !shown.includes(word))).toEqual([]);
    }),
    { numRuns: testSize("markdown") },
  );
});

function wordsOf(source: string): string[] {
  return source.match(/word\d+/g) ?? [];
}

it("[TERM-20] a finished paragraph, item or line of code is final when the next one begins", () => {
  const stream = createMarkdownStream({ theme, highlighter, width: () => 40 });
  expect(stream.add("one\ntwo")).toEqual([]);
  expect(stream.live()).toEqual(["one", "two"]);
  expect(stream.add("\n\n- a\n-")).toEqual(["one", "two"]);
  expect(stream.live()).toEqual(["", `${theme.accent("• ")}a`]);
  expect(stream.add(" b\n```\nx\n")).toEqual([
    "",
    `${theme.accent("• ")}a`,
    `${theme.accent("• ")}b`,
    "",
    "  x",
  ]);
  expect(stream.live()).toEqual([]);
  expect(stream.add("y")).toEqual([]);
  expect(stream.live()).toEqual(["  y"]);
  expect(stream.add("\n``")).toEqual(["  y"]);
  expect(stream.live()).toEqual([]);
  expect(stream.add("`")).toEqual([]);
  expect(stream.end()).toEqual([]);
});

it("[TERM-23] code waits for the colours while they are loaded, and not after the end of its block", async () => {
  const fresh = createHighlighter(theme);
  const stream = createMarkdownStream({ theme, highlighter: fresh, width: () => 40 });
  expect(stream.add("```ts\nconst a\n")).toEqual([]);
  expect(stream.live()).toEqual(["  const a"]);
  expect(stream.add("```\nthen\n\n")).toEqual(["  const a", "", "then"]);
  await fresh.load();
  expect(stream.add("```ts\nconst b\n")).toEqual(["", `  ${theme.accent("const")} b`]);
});

const SIZE = 25_000;

it.each([
  ["one paragraph", "word ", ""],
  ["one word", "x", ""],
  ["marks that are never closed", "*a **b _c ", ""],
  ["brackets", "![", ""],
  ["characters without a width", "\u0301", ""],
  ["one block of code", "const a = `x`; /* y */\n", "```ts\n"],
  ["one line of code", "a ", "```ts\n"],
  ["a comment that is never closed", "const a = `b${c}`;\n".repeat(2), "```ts\n/*\n"],
  ["one table", "a|b\n", "a|b\n-|-\n"],
  ["one line of a quote in a quote", ">", ""],
  ["one line of items in items", "- ", ""],
  ["one list", "1. a\n", ""],
  ["blank lines", "\n", "a"],
])("[TERM-24] of %s of 25 KB, little is drawn again", (_, part, start) => {
  const stream = createMarkdownStream({ theme, highlighter, width: () => 80 });
  const source = start + part.repeat(SIZE / part.length);
  for (let at = 0; at < source.length; at += 4000) {
    stream.add(source.slice(at, at + 4000));
    expect(stream.live().join("").length).toBeLessThan(20_000);
  }
  stream.end();
});
