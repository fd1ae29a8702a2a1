import { expect, it } from "vitest";
import { createNearestName } from "../../src/core/text/nearest-name.ts";

const known = ["build", "test", "review-1", "review-2", "a"];

it.each([
  ["buidl", "build"],
  ["biuld", "build"],
  ["build", "build"],
  ["buil", "build"],
  ["builds", "build"],
  ["BUILD", undefined],
  ["tset", "test"],
  ["rewiev-2", "review-2"],
  ["b", undefined],
  ["deploy", undefined],
  ["", undefined],
  ["ab", "a"],
  ["x".repeat(65), undefined],
])("%j is closest to %j", (wrong, meant) => {
  expect(createNearestName(known)(wrong)).toBe(meant);
});

it("stops at its limit of work", () => {
  const nearest = createNearestName(known, 2 * known.length);
  expect([nearest("buidl"), nearest("buidl"), nearest("buidl")]).toEqual([
    "build",
    "build",
    undefined,
  ]);
});
