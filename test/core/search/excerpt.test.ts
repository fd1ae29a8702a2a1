import fc from "fast-check";
import { expect, it } from "vitest";

import { excerptOf } from "../../../src/core/search/excerpt.ts";
import { comparedText, searchWords } from "../../../src/core/search/search.ts";

const excerptIn = (text: string, words: readonly string[]) =>
  excerptOf({ text, compared: comparedText(text) }, words);

const marked = (text: string, query: string): string[] => {
  const { excerpt, marks } = excerptIn(text, searchWords(query));
  return marks.map(([from, to]) => excerpt.slice(from, to));
};

it("[SEARCH-4] cuts an excerpt between characters: no half, no part of a family, no accent without its letter", () => {
  const family = "👩‍👩‍👧";
  const text = `${family.repeat(40)}needle${"e\u0301".repeat(200)}`;
  const { excerpt } = excerptIn(text, ["needle"]);
  const [before = "", after = ""] = excerpt.split("needle");
  expect(before).toBe(family.repeat(8));
  expect(after).toBe("e\u0301".repeat(57));
});

it("[SEARCH-4] cuts a character of hundreds of code points, and marks the part of a long phrase that is there", () => {
  expect(Array.from(excerptIn(`a${"\u0301".repeat(500)}`, ["a"]).excerpt)).toHaveLength(160);
  const phrase = "long ".repeat(50).trim();
  const [mark = ""] = marked(`${"x".repeat(100)}${phrase}`, `"${phrase}"`);
  expect(mark).toBe(phrase.slice(0, 120));
});

it("[SEARCH-4] joins marks that touch, and marks each word", () => {
  expect(marked("foobar and BAR", "foo bar")).toEqual(["foobar", "BAR"]);
  expect(marked("aaaa", "aa aaa")).toEqual(["aaaa"]);
});

it("[SEARCH-4] is well formed, on one line, of at most 160 characters, with marks of the words alone", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary", maxLength: 9 }), { maxLength: 60 }),
      fc.string({ unit: "binary", minLength: 1, maxLength: 9 }),
      fc.nat(),
      (parts, word, at) => {
        const whole = [...parts];
        whole.splice(at % (parts.length + 1), 0, word);
        const text = whole.join(" ").toWellFormed();
        const words = searchWords(`"${word.replaceAll('"', "")}"`);
        fc.pre(words.length > 0 && words.every((each) => comparedText(text).includes(each)));
        const { excerpt, marks } = excerptIn(text, words);
        expect(excerpt.isWellFormed()).toBe(true);
        expect(excerpt).not.toMatch(/[^\S ]/u);
        expect(Array.from(excerpt).length).toBeLessThanOrEqual(160);
        expect(marks.length).toBeGreaterThan(0);
        let last = 0;
        for (const [from, to] of marks) {
          expect(from).toBeGreaterThanOrEqual(last);
          expect(to).toBeGreaterThan(from);
          last = to;
        }
        expect(last).toBeLessThanOrEqual(excerpt.length);
      },
    ),
  );
});
