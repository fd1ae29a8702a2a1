import { expect, it } from "vitest";

import {
  cloneJsonValue,
  isEmptyRecord,
  sameJsonValue,
} from "../../../src/langgraph/messages/json-value.ts";

const parsed = (): Record<string, unknown> => JSON.parse('{"a":1,"__proto__":{"b":[2]}}');

it("copies and compares a member named __proto__ like any other", () => {
  const clone = cloneJsonValue(parsed());

  expect(JSON.stringify(clone)).toBe(JSON.stringify(parsed()));
  expect(Object.getPrototypeOf(clone)).toBe(Object.prototype);
  expect(sameJsonValue(parsed(), clone)).toBe(true);
  expect(sameJsonValue({ a: 1 }, clone)).toBe(false);
  expect(sameJsonValue(JSON.parse('{"a":1,"__proto__":{"b":[3]}}'), clone)).toBe(false);
});

it("copies a record whole, and shares none of its parts", () => {
  const tree = {
    text: "a",
    list: [{ deep: {} }, []],
    record: { none: null as string | null, missing: undefined },
  };

  const clone = cloneJsonValue(tree);

  expect(clone).toStrictEqual(tree);
  tree.list.push([]);
  tree.record.none = "now";
  expect(clone.list).toHaveLength(2);
  expect(clone.record).toStrictEqual({ none: null, missing: undefined });
});

it("takes what a record inherits for no member of it", () => {
  expect(sameJsonValue({ b: undefined }, { a: undefined })).toBe(false);
  expect(sameJsonValue({ constructor: Object }, { a: undefined })).toBe(false);
  expect(sameJsonValue(JSON.parse('{"__proto__":{}}'), { a: undefined })).toBe(false);
  expect(sameJsonValue({ toString: "text" }, { toString: "text" })).toBe(true);
});

it("calls nothing an empty record that has a member, is a list, or was made by a class", () => {
  expect([{}, JSON.parse("{}")].map(isEmptyRecord)).toEqual([true, true]);
  const others = [{ a: undefined }, [], null, "", new Date(), JSON.parse('{"__proto__":1}')];
  expect(others.map(isEmptyRecord)).toEqual(others.map(() => false));
});
