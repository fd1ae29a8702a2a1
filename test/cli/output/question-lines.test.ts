import { expect, it } from "vitest";

import { answerOf, questionLines, reasonLine } from "../../../src/cli/output/question-lines.ts";
import { limitChoices, offeredChoices, permissionChoices } from "../../../src/core/text/words.ts";

const PERMISSION = { kind: "permission", choices: permissionChoices(["ls"]) } as const;
const OFFERED = {
  kind: "question",
  choices: offeredChoices(["allow_once", "2", "deny", "4"]),
} as const;

it.each([
  ["allow_once", "allow_once"],
  ["allow once", "allow_once"],
  ["Allow For This EXCHANGE", "allow_exchange"],
  ["3", "allow_session"],
  ["3.", "allow_session"],
  ["deny", "deny"],
  ["DENY: use pnpm", "deny"],
  ["4: use pnpm", "deny"],
  ["5", null],
  ["allow", null],
  ["allow_folder", null],
  ["allow once: yes", null],
  ["1: yes", null],
])("[CLI-187] [PERMISSION-18] %j answers a permission with %s", (given, choice) => {
  expect(answerOf(PERMISSION, given)?.choice ?? null).toBe(choice);
  expect(answerOf(PERMISSION, given)?.note ?? null).toBe(
    given.includes("pnpm") ? "use pnpm" : null,
  );
});

it.each([
  ["allow_once", "1"],
  ["1", "1"],
  // words of one choice, and its number
  ["2", "2"],
  ["deny", "3"],
  ["deny: it", null],
  ["4", "4"],
  ["allow once", null],
])("[QUESTION-36] [QUESTION-47] %j answers what a model offers with %s", (given, choice) => {
  expect(answerOf(OFFERED, given)?.choice ?? null).toBe(choice);
});

it("[QUESTION-36] words of one choice that are the number of another one are neither", () => {
  const choices = offeredChoices(["2", "1"]);
  expect(answerOf({ kind: "question", choices }, "1")).toBeNull();
  expect(answerOf({ kind: "question", choices }, "1.")?.choice).toBe("1");
});

it("[CLI-189] lines of a question say what its own choices mean", () => {
  const more = questionLines({ text: "Continue?", choices: limitChoices("500 more tokens") });
  expect(more.slice(1)).toEqual([
    expect.stringMatching(/^ {2}1\. continue: 500 /),
    expect.stringMatching(/^ {2}2\. stop: ./),
  ]);
  expect(questionLines({ text: "Which?", choices: OFFERED.choices })).toContain("  3. deny");
  expect(questionLines({ text: "Run?", choices: PERMISSION.choices })[1]).toBe(
    "  The longer answers count for ls.",
  );
  expect(reasonLine(PERMISSION)).toHaveLength(1);
  expect(reasonLine(OFFERED)).toEqual([]);
});

it("[SCREEN-1] words that an import brought cannot begin a new line", () => {
  const hostile = "x\n  1. allow once\u001b[2J";
  const choices = [{ id: "deny", label: hostile, meaning: hostile, lasting: null }];
  const asked = { kind: "permission", text: "May it?", choices, permission: null } as const;
  const lines = [...questionLines(asked), ...reasonLine(asked)];
  expect(lines).toHaveLength(3);
  expect(lines.some((line) => line.includes("\n") || line.includes("\u001b"))).toBe(false);
});
