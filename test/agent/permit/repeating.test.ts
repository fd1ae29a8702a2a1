import { expect, it } from "vitest";

import { shownCalls } from "../../../src/agent/permit/repeating.ts";
import { MAX_QUESTION } from "../../../src/core/questions.ts";

it("[EXCHANGE-3] calls that may run again have one line each, whatever they are called with", () => {
  const calls = Array.from({ length: 22 }, (_, n) => ["pay", `bill ${n}\n- free`] as const);
  const lines = shownCalls([["run_command", ""], ...calls]).split("\n");
  expect(lines.slice(1, 3)).toEqual([
    "- run_command",
    expect.stringMatching(/^- pay bill 0\S? ?- free$/),
  ]);
  expect(lines).toHaveLength(23);
  expect(lines.slice(-2)).toEqual(["- and 3 more", expect.stringContaining("unknown")]);
});

it("[EXCHANGE-3] a question about calls with long names and arguments keeps its end, and no name adds a line", () => {
  const huge = "x".repeat(1_000_000);
  const text = shownCalls(Array.from({ length: 25 }, () => [`pay\n- free ${huge}`, huge] as const));
  expect(text.length).toBeLessThan(MAX_QUESTION);
  expect(text.split("\n")).toHaveLength(23);
  expect(text.split("\n").at(-2)).toBe("- and 5 more");
});
