import { expect, it } from "vitest";

import { askedOf, choicesOf } from "../../../web/session/act/choices.ts";

it("[PAGE-82] puts a no last, and explains only the answers of Reprise itself", () => {
  const offered = ["deny", "always allow in this session", "allow once", "constructor"];
  const shown = choicesOf({ kind: "permission", choices: offered });
  expect(shown.map(({ answer }) => answer)).toEqual([
    "allow once",
    "always allow in this session",
    "constructor",
    "deny",
  ]);
  expect(shown.map(({ allows }) => allows)).toEqual([true, true, true, false]);
  // what a model offers means what it says, also if it is called like an answer of Reprise
  expect(choicesOf({ kind: "question", choices: offered })).toEqual(
    offered.map((answer) => ({ answer, meaning: null, allows: true })),
  );
});

it("[PAGE-84] leaves out the middle of more than 190 lines", () => {
  const text = (lines: number): string =>
    ["What?", ...Array.from({ length: lines }, (_, index) => `line ${index + 1}`)].join("\n");
  expect(askedOf(text(190))).toMatchObject({ title: "What?", tail: null, leftOut: 0 });
  const { head, tail, leftOut } = askedOf(text(191));
  expect(head.split("\n").at(-1)).toBe("line 140");
  expect(tail?.split("\n")[0]).toBe("line 142");
  expect(leftOut).toBe(1);
});
