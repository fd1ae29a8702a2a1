import { expect, it } from "vitest";

import type { FindingInfo } from "../../src/entries/client.ts";
import {
  countLines,
  countsOf,
  offsetOf,
  rangeOf,
  syntaxOf,
  withSuggestion,
} from "../../web/plans/plan-text.ts";
import { fitting, zoomed } from "../../web/plans/zoom.ts";

const TEXT = "a: 1\n\n  - 'stor'\nlast";

function finding(fields: Partial<FindingInfo>): FindingInfo {
  return {
    code: "unknown_dependency",
    severity: "error",
    pointer: "",
    line: 1,
    column: 1,
    message: "",
    ...fields,
  };
}

it("[PAGE-104] the name of a file decides how its text is written, else how it begins", () => {
  for (const [text, name, syntax] of [
    ["{}", null, "json"],
    ["\uFEFF \n[1]", null, "json"],
    ["a: 1", null, "yaml"],
    ["{}", "plan.YML", "yaml"],
    ["a: 1", "plan.json", "json"],
    ["a: 1", "json", "yaml"],
  ] as const) {
    expect(syntaxOf(text, name)).toBe(syntax);
  }
});

it("[PAGE-105] a position is found in the text, also one beyond it", () => {
  expect(offsetOf(TEXT, { line: 3, column: 5 })).toBe(TEXT.indexOf("'stor'"));
  expect(offsetOf(TEXT, { line: 1, column: 99 })).toBe(4);
  expect(offsetOf(TEXT, { line: 99, column: 1 })).toBe(TEXT.length);
  expect(rangeOf(TEXT, { line: 3, column: 5 })).toEqual([10, 16]);
  expect(rangeOf(TEXT, { line: 1, column: 5 })).toEqual([0, 4]);
  expect(rangeOf(TEXT, { line: 2, column: 1 })).toEqual([5, 5]);
  expect([countLines(""), countLines(TEXT)]).toEqual([1, 4]);
});

it("[PAGE-105] a suggestion replaces a plain name in its quotes, and nothing else", () => {
  const at = { line: 3, column: 5, suggestion: "store" };
  expect(withSuggestion(TEXT, finding(at))).toBe("a: 1\n\n  - 'store'\nlast");
  expect(withSuggestion("[a, b]", finding({ column: 5, suggestion: "c" }))).toBe("[a, c]");
  for (const [text, change] of [
    [TEXT, { line: 3, column: 5 }],
    [TEXT, { ...at, suggestion: "x, y" }],
    ["{}", { suggestion: "x" }],
    ["", { suggestion: "x" }],
  ] as const) {
    expect(withSuggestion(text, finding(change))).toBeNull();
  }
});

it("[PAGE-104] findings are counted in words", () => {
  expect(countsOf([])).toBe("no findings");
  expect(countsOf([finding({})])).toBe("1 error");
  const warning = finding({ severity: "warning" });
  expect(countsOf([warning, finding({}), warning])).toBe("1 error, 2 warnings");
});

it("[PAGE-107] a picture fits its window, and keeps the point that it is enlarged around", () => {
  expect(fitting({ width: 1000, height: 500 }, { width: 500, height: 500 })).toBe(0.5);
  expect(fitting({ width: 100, height: 50 }, { width: 500, height: 500 })).toBe(1);
  expect(fitting({ width: 100, height: 50 }, { width: 0, height: 0 })).toBe(0.05);
  const at = { x: 100, y: 50 };
  const view = zoomed({ scale: 1, scroll: { x: 300, y: 0 } }, 2, at);
  expect(view).toEqual({ scale: 2, scroll: { x: 700, y: 50 } });
  expect(zoomed(view, 0.5, at)).toEqual({ scale: 1, scroll: { x: 300, y: 0 } });
  expect(zoomed(view, 1000, at).scale).toBe(4);
  expect(zoomed(view, 0, at)).toEqual({ scale: 0.05, scroll: { x: 0, y: 0 } });
});
