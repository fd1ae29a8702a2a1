import { Marked } from "marked";
import { describe, expect, it } from "vitest";

import { tokensOf } from "../../../web/parts/tokens.ts";
import { createGrowingBlocks } from "../../../web/session/blocks.ts";

const TEXT = [
  "# A title\n\nA paragraph of *words* ".padEnd(500, "and more words "),
  "\n\n- one\n\n- two\n\n  still two\n- three\n\n",
  "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
  "```ts\nconst a = 1;\n\n\nconst b = `# no title`;\n```\n\n",
  "> quoted\nand continued\n\n1. first\n2. second\n\n    code of four spaces\n\n",
  `Setext\n===\n\n${"The end of it all. ".repeat(40)}\n\nLast.`,
].join("");

/** The HTML of pieces, each on its own. */
function htmlOf(pieces: readonly string[]): string {
  return pieces
    .map((piece) => new Marked({ gfm: true, breaks: true }).parse(piece, { async: false }))
    .join("");
}

describe("blocks of a text that grows", () => {
  it.each([1, 3, 7, 50])(
    "[PAGE-63] show the text as a whole would be shown, in pieces of %d characters",
    (size) => {
      const blocks = createGrowingBlocks();
      let before: readonly string[] = [];
      for (let end = size; end < TEXT.length + size; end += size) {
        const pieces = blocks.read(TEXT.slice(0, end));
        expect(pieces.join("")).toBe(TEXT.slice(0, end));
        expect(pieces.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
        before = pieces;
      }
      expect(before.length).toBeGreaterThan(2);
      expect(htmlOf(before)).toBe(htmlOf([TEXT]));
    },
  );

  it("[PAGE-63] begin again with another text", () => {
    const blocks = createGrowingBlocks();
    blocks.read(TEXT);
    expect(blocks.read("Something else")).toEqual(["Something else"]);
  });

  it("[PAGE-63] keep white space that the parser changes", () => {
    const blocks = createGrowingBlocks();
    const text = "a\r\n\r\n\tb\u2028c ".repeat(100);
    expect(blocks.read(text).join("")).toBe(text);
  });
});

describe("Markdown of hostile texts", () => {
  const SIZE = 60_000;
  it.each([
    ["emphasis", "*a **b ".repeat(SIZE / 7)],
    ["links", "[a](".repeat(SIZE / 4)],
    ["brackets", "[".repeat(SIZE)],
    ["code", "`a ``b ".repeat(SIZE / 7)],
    ["quotes", ">".repeat(SIZE)],
    ["quotes with spaces", "> ".repeat(SIZE / 2)],
    ["lists", "- ".repeat(SIZE / 2)],
    ["quotes that end", `${"> ".repeat(20)}x\n`.repeat(SIZE / 41)],
    ["tags", "<a ".repeat(SIZE / 3)],
  ])("[PAGE-69] keeps each character of many %s, and ends", (_, text) => {
    const raw = tokensOf(text).map((token) => token.raw);
    expect(raw.join("").trimEnd()).toBe(text.trimEnd());
  });
});
