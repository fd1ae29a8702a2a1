import { expect, it } from "vitest";

import { parseFields } from "../../../src/rules/personas/front-matter.ts";

const keys = (count: number): string =>
  Array.from({ length: count }, (_, at) => `k${at}: 1`).join("\n");

it.each([
  ["of 20,000 names", keys(20_000), "more than 32 KiB"],
  ["of brackets", `a: ${"[".repeat(3000)}${"]".repeat(3000)}`, "nested too deeply"],
  ["of braces", `a: ${"{a: ".repeat(3000)}`, "nested too deeply"],
  ["of lists in lists", `a:\n  ${"- ".repeat(3000)}x`, "nested too deeply"],
  ["of explicit keys", `a:\n  ${"? ".repeat(3000)}x`, "nested too deeply"],
  ["with a name twice", "a: 1\nb: 2\na: 3", "keys must be unique"],
  ["with a name twice below", "a:\n  - b: 1\n    b: 2", "keys must be unique"],
])("[MCP-123] a front matter %s is refused", (_, yaml, reason) => {
  expect(() => parseFields(yaml)).toThrow(reason);
});

it("[MCP-123] a front matter may have many names, and brackets in its texts", () => {
  expect(parseFields(keys(3000)).size).toBe(3000);
  expect(parseFields(`a: "[1] [2] :-( - - -"\nb: [{ c: [d] }]`).get("b")?.value).toEqual([
    { c: ["d"] },
  ]);
});
