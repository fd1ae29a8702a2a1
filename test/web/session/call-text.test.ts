import { describe, expect, it } from "vitest";

import {
  argumentsText,
  outcomeOf,
  pathsOf,
  readSummary,
  subjectOf,
  tookText,
} from "../../../web/session/call-text.ts";

describe("calls of tools", () => {
  it.each([
    ["read_file", { path: "src/a.ts", offset: 3 }, "src/a.ts"],
    ["list_files", {}, "."],
    ["find_files", { pattern: "*.ts", path: "src" }, "*.ts in src"],
    ["run_command", { line: "npm test\n --all" }, "npm test --all"],
    ["run_command", { argv: ["echo", "a b", "c"] }, 'echo "a b" c'],
    ["edit_file", { path: "a.ts", old: "x" }, "a.ts"],
    ["multi_edit", { edits: [{ path: "a" }, { path: "b" }, { path: "a" }] }, "a, b"],
    ["apply_patch", { patch: "*** Update File: x\n@@\n*** Add File: y\n" }, "x, y"],
    ["delegate", { persona: "reviewer", task: "Look at it" }, "reviewer: Look at it"],
    ["other", { a: [1] }, '{"a":[1]}'],
    ["read_file", "no object", '"no object"'],
    ["other", undefined, ""],
  ])("[PAGE-62] says what %s with %j is about", (name, args, subject) => {
    expect(subjectOf({ name, args })).toBe(subject);
  });

  it("[PAGE-62] names no file of a call that writes none", () => {
    expect(pathsOf({ name: "read_file", args: { path: "a" } })).toEqual([]);
    expect(pathsOf({ name: "multi_edit", args: { edits: [null, { path: 3 }] } })).toEqual([]);
  });

  it.each([
    ["read_file", "Error: no such file\nmore", null, { end: "error", reason: "no such file" }],
    ["read_file", "Error: no such file", "success", { end: "success", reason: "" }],
    ["read_file", "the text", "error", { end: "error", reason: "the text" }],
    ["run_command", "exit code 0 after 1.5 s\n\nok", null, { end: "success", took: 1500 }],
    ["run_command", "exit code 2 after 0.1 s\n\n", null, { end: "error", reason: "exit code 2" }],
    ["run_command", "It was stopped.", null, { end: "error", reason: "It was stopped." }],
    ["read_file", null, null, { end: "unknown", reason: "" }],
  ] as const)("[PAGE-62] says how %s with %j ended (%s)", (name, content, status, outcome) => {
    expect(outcomeOf(name, content, status)).toMatchObject(outcome);
  });

  it("[PAGE-62] counts what a group read", () => {
    const calls = ["read_file", "read_file", "list_files", "find_files", "search_files"];
    expect(readSummary(calls.map((name) => ({ name })))).toBe(
      "read 2 files, listed 1 folder, searched 2 times",
    );
  });

  it("[PAGE-62] shows texts of arguments as lines", () => {
    expect(argumentsText({ path: "a", content: "x\ny", n: 3 })).toBe(
      "path: a\ncontent: \nx\ny\nn: 3",
    );
    expect(argumentsText([1])).toBe("[\n  1\n]");
  });

  it("[PAGE-62] shows times with what matters of them", () => {
    expect([199, 9999, 61_000].map(tookText)).toEqual(["0.1 s", "9.9 s", "1 min 1 s"]);
  });
});
