import { expect, it } from "vitest";

import { mayHaveChanged, resultLine, toolCallLine } from "../../../src/cli/output/tool-lines.ts";
import { CALL_STATUSES, factsOfCall } from "../../../src/core/calls.ts";
import type { ToolEffect } from "../../../src/core/tools.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";

it.each([
  ["read_file", { path: "a b.js" }, "a b.js"],
  ["read_file", { offset: 9 }, '{"offset":9}'],
  ["edit_file", { path: "a.js\n· run_command\u001b[2J", old_text: "" }, "a.js · run_command␛[2J"],
  ["write_file", null, "null"],
  ["my_tool", { path: "a.js" }, '{"path":"a.js"}'],
  ["read_file", { path: "a".repeat(150) }, `${"a".repeat(100)}…`],
  ["run_command", { argv: ["npm", "a".repeat(150)] }, `npm ${"a".repeat(150)}`],
])("[CLI-103] the line of a call of %s with %j shows what it is about", (name, args, shown) => {
  const call = { name, args };
  expect(toolCallLine({ ...call, ...factsOfCall(call, BUILT_IN_TOOLS) })).toBe(
    `· ${name} ${shown}`,
  );
});

it("[CLI-103] shows a call of which nothing is known with its arguments", () => {
  expect(toolCallLine({ name: "read_file", args: { path: "a" } })).toBe('· read_file {"path":"a"}');
});

it.each([
  ["ok", "returned"],
  ["failed", "failed"],
  ["denied", "was denied"],
  ["not_run", "was not run"],
  ["unknown", "may have run"],
  [null, "returned"],
] as const)(
  "[CLI-96] the line of a result with the status %s says so, whatever its text",
  (status, word) => {
    const content = "Failure: the text\nof a tool";
    const isWhole = status === null || status === "ok";
    expect(resultLine({ name: "a", status, content })).toBe(
      `· a ${word}: Failure: the text${isWhole ? " of a tool" : ""}`,
    );
  },
);

it("[CLI-96] counts a program that failed among the calls that may have changed files", () => {
  const changed = (effect: ToolEffect | null) =>
    CALL_STATUSES.filter((status) => mayHaveChanged({ effect, status }));
  expect(changed("changes")).toEqual(["ok"]);
  expect(changed("runs")).toEqual(["ok", "failed", "unknown"]);
  expect([changed("reads"), changed("asks"), changed(null)]).toEqual([[], [], []]);
});
