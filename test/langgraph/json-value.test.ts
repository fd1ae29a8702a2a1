import { expect, it } from "vitest";

import { cloneJsonValue, sameJsonValue } from "../../src/langgraph/json-value.ts";

const parsed = (): Record<string, unknown> => JSON.parse('{"a":1,"__proto__":{"b":[2]}}');

it("copies and compares a member named __proto__ like any other", () => {
  const clone = cloneJsonValue(parsed());

  expect(JSON.stringify(clone)).toBe(JSON.stringify(parsed()));
  expect(Object.getPrototypeOf(clone)).toBe(Object.prototype);
  expect(sameJsonValue(parsed(), clone)).toBe(true);
  expect(sameJsonValue({ a: 1 }, clone)).toBe(false);
  expect(sameJsonValue(JSON.parse('{"a":1,"__proto__":{"b":[3]}}'), clone)).toBe(false);
});
