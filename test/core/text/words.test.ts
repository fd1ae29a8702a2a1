import { expect, it } from "vitest";

import {
  ADMISSION_CHOICES,
  APPROVAL_CHOICES,
  areChoicesOf,
  isChoiceId,
  isHarmlessChoice,
  LIMIT_CHOICES,
  PERMISSION_CHOICES,
  REPEAT_CHOICES,
} from "../../../src/core/questions.ts";
import {
  admissionChoices,
  approvalChoices,
  folderChoice,
  limitChoices,
  offeredChoices,
  permissionChoices,
  repeatChoices,
} from "../../../src/core/text/words.ts";
import { longerText } from "../../../src/core/text/longer-text.ts";

const OWN = [
  ...PERMISSION_CHOICES,
  ...LIMIT_CHOICES,
  ...REPEAT_CHOICES,
  ...APPROVAL_CHOICES,
  ...ADMISSION_CHOICES,
];

it("[QUESTION-47] choices have the ids of their kind, and those that last their rules", () => {
  const rules = ["edit_file(a.txt)"];
  const permission = permissionChoices(rules, { each: true });
  expect(permission.map(({ id, lasting }) => [id, lasting])).toEqual([
    ["allow_once", null],
    ["allow_exchange", rules],
    ["allow_session", rules],
    ["allow_each", null],
    ["deny", null],
  ]);
  expect(permissionChoices(null).map(({ id }) => id)).toEqual(["allow_once", "deny"]);
  expect(folderChoice("a")).toMatchObject({ id: "allow_folder", lasting: ["a"] });
  expect(limitChoices("5 more tokens").map(({ id }) => id)).toEqual(["continue", "stop"]);
  expect(limitChoices("5 more tokens")[0]?.meaning).toContain("5");
  expect(admissionChoices().map(({ id }) => id)).toEqual(["yes", "no"]);
  expect(approvalChoices().map(({ id }) => id)).toEqual(["approve", "refuse"]);
  expect(repeatChoices().map(({ id }) => id)).toEqual(["again", "skip"]);
  expect(longerText(permission)).toContain("edit_file(a.txt)");
  expect(longerText(permissionChoices(null))).toBeNull();
  for (const choice of [
    ...permission,
    ...limitChoices("5 more tokens"),
    ...repeatChoices(),
    ...approvalChoices(),
    ...admissionChoices(),
  ]) {
    expect(choice.label).not.toBe("");
    expect(choice.meaning).not.toBeNull();
  }
});

it("[QUESTION-47] what a model offers has positions as ids, whatever it is called", () => {
  const own = [...permissionChoices(["a"], { each: true }), ...limitChoices("1 more tokens")];
  const texts = [...own.map(({ label }) => label), ...OWN, "2"];
  const offered = offeredChoices(texts);
  expect(offered.map(({ id }) => id)).toEqual(texts.map((_, index) => String(index + 1)));
  expect(offered.map(({ label }) => label)).toEqual(texts);
  for (const { id, meaning, lasting } of offered) {
    expect(OWN).not.toContain(id);
    expect([meaning, lasting, isHarmlessChoice(id)]).toEqual([null, null, false]);
  }
});

it.each([
  ["permission", ["allow_once", "deny"], true],
  ["permission", ["1", "2"], false],
  ["permission", ["allow_once", "allow_once"], false],
  ["permission", ["yes", "no"], false],
  ["question", ["1", "2"], true],
  ["question", ["2", "1"], false],
  ["question", ["allow_once"], false],
  ["limit", ["continue", "stop"], true],
  ["messages", ["deny"], false],
] as const)("[QUESTION-47] a %s may have the choices %j: %s", (kind, ids, may) => {
  expect(areChoicesOf(kind, ids)).toBe(may);
});

it.each([
  ["deny", true],
  ["stop", true],
  ["20", true],
  ["21", false],
  ["0", false],
  ["allow once", false],
  ["constructor", false],
])("[CLI-191] %s can be the id of a choice: %s", (id, can) => {
  expect(isChoiceId(id)).toBe(can);
});
