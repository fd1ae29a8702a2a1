import { marked } from "marked";
import { describe, expect, it } from "vitest";

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
  return pieces.map((piece) => marked.parse(piece, { async: false })).join("");
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
