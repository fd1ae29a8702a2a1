import { expect, it } from "vitest";

import { dollarsOf, exactDollars, microsOf, shownCost } from "../../../src/core/cost/money.ts";

it.each([
  [0, 0, "$0.00"],
  [1, 0, "<$0.01"],
  [9_999, 0, "<$0.01"],
  [10_000, 0, "$0.01"],
  [123_456, 0, "$0.12"],
  [123_456, 2, "at least $0.12"],
  [4_500, 2, "at least $0.0045"],
  [0, 2, "at least $0.00"],
  [5_000_000_000, 0, "$5000.00"],
  [null, 1, null],
])(
  "[COST-15] shows %s micro-dollars with %s unknown prices as %s",
  (cost_micros, unpriced, shown) => {
    expect(shownCost({ cost_micros, unpriced })).toBe(shown);
  },
);

it.each([
  [5_000_000, "$5.00"],
  [250_000, "$0.25"],
  [300, "$0.0003"],
  [1, "$0.000001"],
  [1_234_560, "$1.23456"],
  [100_000_000, "$100.00"],
])("[COST-8] shows a limit of %i micro-dollars as %s", (micros, shown) => {
  expect(exactDollars(micros)).toBe(shown);
});

it("[COST-10] has whole micro-dollars of every amount that can be written", () => {
  for (const dollars of [0.000001, 0.1, 0.29, 5, 999_999.999999]) {
    expect(Number.isSafeInteger(microsOf(dollars))).toBe(true);
    expect(dollarsOf(microsOf(dollars))).toBe(dollars);
  }
});
