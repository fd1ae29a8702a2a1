import { describe, expect, it } from "vitest";

import { factsOfCall } from "../../../src/core/calls.ts";
import { TOOL_EFFECTS, ToolSet } from "../../../src/core/tools.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";

const subjectOf = (name: string, args: unknown): string | null =>
  factsOfCall({ name, args }, BUILT_IN_TOOLS).subject;

describe("subjects of calls", () => {
  it.each([
    ["read_file", { path: "src/a b.ts", offset: 3 }, "src/a b.ts"],
    ["list_files", {}, "."],
    ["find_files", { pattern: "*.ts", path: "src" }, "*.ts in src"],
    ["search_files", { text: "a", path: "." }, "a"],
    ["write_file", { path: "a.js", content: "text" }, "a.js"],
    ["edit_file", { path: "a.js\n· run_command\u001b[2J", old_text: "" }, "a.js · run_command␛[2J"],
    ["multi_edit", { edits: [{ path: "a.js" }, { path: "b.js" }, { path: "a.js" }] }, "a.js, b.js"],
    [
      "apply_patch",
      {
        patch: "*** Update File: a.js\n*** Move to: b.js\r\n*** Add File: c.js\n+ *** Add File: d",
      },
      "a.js, b.js, c.js",
    ],
    ["run_command", { line: "npm test\n --all" }, "npm test --all"],
    ["run_command", { argv: ["echo", "a b", "c"] }, 'echo "a b" c'],
    ["git_commit", { message: "Fix it\n\nBecause.", paths: ["a"] }, "Fix it"],
    ["delegate", { persona: "reviewer", task: "Look at it" }, "reviewer: Look at it"],
    ["delegate", { task: "Look at it" }, "Look at it"],
    ["ask_user", { question: "Which one?" }, "Which one?"],
  ])("[HTTP-252] says what %s with %j is about", (name, args, subject) => {
    expect(subjectOf(name, args)).toBe(subject);
  });

  it.each([
    ["edit_file", { old_text: "a" }],
    ["multi_edit", { edits: [{ path: "a.js" }, 7] }],
    ["multi_edit", { edits: [] }],
    ["apply_patch", { patch: "text" }],
    ["find_files", { pattern: 7, path: "src" }],
    ["run_command", { line: "" }],
    ["hand_in_plan", { content: "{}" }],
    ["my_tool", { path: "a.js" }],
  ])("[HTTP-252] says nothing of %s with %j", (name, args) => {
    expect(subjectOf(name, args)).toBeNull();
  });

  it("[HTTP-252] takes any JSON from a model, and answers in one line of 1,000 characters", () => {
    const values: readonly unknown[] = [
      null,
      7,
      "text",
      [],
      [[]],
      {},
      { toString: 1 },
      "😀".repeat(5000),
      "a\nb\t\0",
    ];
    const fields = ["path", "pattern", "text", "edits", "patch", "argv", "line", "message", "task"];
    const args = [
      ...values,
      ...fields.flatMap((field) => values.map((value) => ({ [field]: value }))),
      ...values.map((value) => ({ edits: [value, { path: value }], argv: [value] })),
    ];
    for (const tool of BUILT_IN_TOOLS) {
      for (const each of args) {
        // as the tool itself answers: what throws is only caught for tools of others
        const given = tool.subject?.(each) ?? null;
        expect(given === null || typeof given === "string").toBe(true);
        const subject = subjectOf(tool.name, each);
        expect(subject?.length ?? 1).toBeLessThanOrEqual(1000);
        expect(subject ?? "").toMatch(/^[^\n\t\0]*$/);
        expect(subject?.isWellFormed() ?? true).toBe(true);
      }
    }
  });

  it("[HTTP-252] takes subjects of a program's own tools, also of one that throws", () => {
    const tools = new ToolSet([
      { name: "mine", effect: "changes", repeatable: false, subject: () => "my\nthing" },
      {
        name: "broken",
        effect: "runs",
        repeatable: false,
        subject: () => {
          throw new Error("broken");
        },
      },
    ]);
    const facts = (name: string) => factsOfCall({ name, args: {} }, tools);
    expect(facts("mine")).toEqual({ effect: "changes", subject: "my thing" });
    expect(facts("broken")).toEqual({ effect: "runs", subject: null });
    expect(facts("other")).toEqual({ effect: null, subject: null });
    expect([...BUILT_IN_TOOLS].every(({ effect }) => TOOL_EFFECTS.includes(effect))).toBe(true);
  });
});
