import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { estimateTokens, isStorableText, titleOf } from "../../../src/core/text/text.ts";
import { oneLine } from "../../../src/core/text/terminal-text.ts";
import { anyText } from "../../helpers/any-text.ts";

const longText = anyText({ maxLength: 300 });

describe("isStorableText", () => {
  it.each([
    ["nothing", "", true],
    ["emoji of several parts", "👩‍👩‍👧‍👦🏳️‍🌈", true],
    ["line separators and control characters", "\u2028\u2029\u0001\u001b", true],
    ["the last code point", "\u{10FFFF}\uFFFF", true],
    ["NUL", "a\0b", false],
    ["a lone high surrogate", "a\uD83D", false],
    ["a lone low surrogate", "\uDE80a", false],
    ["surrogates the wrong way round", "\uDE80\uD83D", false],
  ])("%s", (_, text, expected) => {
    expect(isStorableText(text)).toBe(expected);
  });

  it("is true exactly for text that survives UTF-8 and has no NUL", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }), (units) => {
        const text = String.fromCharCode(...units);
        const survives = Buffer.from(text, "utf8").toString("utf8") === text;
        expect(isStorableText(text)).toBe(survives && !units.includes(0));
      }),
    );
  });
});

describe("titleOf", () => {
  it.each([
    ["nothing", "", ""],
    ["short text with its white space", " a\nb ", " a\nb "],
    ["exactly 50", "x".repeat(50), "x".repeat(50)],
    ["51", "x".repeat(51), "x".repeat(50)],
    ["49 and an emoji", `${"x".repeat(49)}🚀y`, `${"x".repeat(49)}🚀`],
    ["50 and an emoji", `${"x".repeat(50)}🚀`, "x".repeat(50)],
    ["100 emoji", "🚀".repeat(100), "🚀".repeat(50)],
  ])("of %s", (_, text, expected) => {
    expect(titleOf(text)).toBe(expected);
  });

  it("is the text's first 50 code points, well-formed like the text itself", () => {
    fc.assert(
      fc.property(longText, (text) => {
        const title = titleOf(text);
        expect(title).toBe(Array.from(text).slice(0, 50).join(""));
        expect(title.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("oneLine", () => {
  it.each([
    ["folds white space", " a \r\n\t b\u2028c\u00a0d ", "a b c d"],
    ["shows control characters", "\u001b[31mred\u0007", "␛[31mred␇"],
    ["shows what turns text around", "abc\u202edef\u2066", "abc<U+202E>def<U+2066>"],
    ["shows C1 control characters", "a\u009bb", "a<U+009B>b"],
    ["keeps emoji", "👩‍👩‍👧 ok", "👩‍👩‍👧 ok"],
  ])("%s", (_, text, expected) => {
    expect(oneLine(text)).toBe(expected);
  });

  it("never leaves a line break, a control character or white space at an end", () => {
    fc.assert(
      fc.property(longText, (text) => {
        const line = oneLine(text);
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        expect(line).toBe(line.trim());
        expect(oneLine(line)).toBe(line);
      }),
    );
  });
});

describe("estimateTokens", () => {
  it.each([
    ["", 0],
    ["a", 1],
    ["abcd", 1],
    ["abcde", 2],
    ["🚀", 1],
    ["ä".repeat(3), 2],
  ])("of %j is %i", (text, expected) => {
    expect(estimateTokens(text)).toBe(expected);
  });

  it("of two texts together is at most the sum, and at most one less", () => {
    fc.assert(
      fc.property(longText, longText, (a, b) => {
        const apart = estimateTokens(a) + estimateTokens(b);
        const together = estimateTokens(a + b);
        expect(together).toBeLessThanOrEqual(apart);
        expect(together).toBeGreaterThanOrEqual(apart - 1);
      }),
    );
  });
});
