import { expect, it } from "vitest";

import { countOf } from "../../../../src/store/records/messages/mirror-row.ts";

it("[COST-18] believes no count of tokens that no model reaches, so that every sum can be read", () => {
  const given = [0, 12, 1_000_000_000, 1_000_000_001, Number.MAX_SAFE_INTEGER, 1e300, -1, 1.5, "7"];
  expect(given.map(countOf)).toEqual([0, 12, 1_000_000_000, ...Array(6).fill(null)]);
  expect(Number.isSafeInteger(1_000_000_000 * 9_000_000)).toBe(true);
});
