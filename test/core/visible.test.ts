import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { exactLine, visible, visibleJson } from "../../src/core/text/terminal-text.ts";

/** What a terminal obeys, hides or turns around; written as the standard names it, not as code does. */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- these are what must not get through
  /[\0-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Cs}\u{e0000}-\u{e007f}]/u;

const hostile = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    fc.constantFrom(...Array.from("\u001b\u009b\u007f\u202e\ud800\udc00\u{e0041}\r\n\t\u200d")),
  ),
});

describe("visible", () => {
  it.each([
    ["keeps line feeds, tabs and joiners", "a\n\tb 👩‍🚀", "a\n\tb 👩‍🚀"],
    ["ends lines with a line feed alone", "a\r\nb\rc", "a\nb␍c"],
    ["shows C0 and DEL by their signs", "\0\u001b[2J\u007f", "␀␛[2J␡"],
    ["shows C1 by number", "\u009b2J", "<U+009B>2J"],
    ["shows marks of direction", "a\u202eb\u2066c\u200ed", "a<U+202E>b<U+2066>c<U+200E>d"],
    ["shows lone surrogates", "a\ud800b\udc00", "a<U+D800>b<U+DC00>"],
    ["shows what has no shape", "\u200b\ufeff\u{e0041}", "<U+200B><U+FEFF><U+E0041>"],
  ])("[SCREEN-1] %s", (_, text, expected) => {
    expect(visible(text)).toBe(expected);
  });

  it("[SCREEN-1] leaves nothing that a terminal obeys, and other text unchanged", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(visible(text)).not.toMatch(UNSAFE);
        expect(visible(visible(text))).toBe(visible(text));
      }),
    );
  });
});

describe("visibleJson", () => {
  it("[SCREEN-2] leaves nothing that a terminal obeys, and the same value", () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom(undefined, 2), (text, indent) => {
        const shown = visibleJson(JSON.stringify({ [text]: [text] }, null, indent));
        expect(shown).not.toMatch(UNSAFE);
        expect(JSON.parse(shown)).toEqual({ [text]: [text] });
      }),
    );
  });
});

it("[THREAD-21] shows each character of an id on one line, white space too", () => {
  const id = " a\tb\n\r\nc  \u0085\u2028d\u001b\u007f ";
  expect(exactLine(id)).toBe(" a␉b␊␍␊c  <U+0085><U+2028>d␛␡ ");
});
