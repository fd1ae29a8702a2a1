import { describe, expect, it } from "vitest";

import { argumentsText, readSummary, subjectOf, tookText } from "../../../web/session/call-text.ts";

describe("calls of tools", () => {
  it("[PAGE-62] says what a call is about, else its arguments", () => {
    expect(subjectOf({ subject: "npm test", args: { line: "npm test" } })).toBe("npm test");
    expect(subjectOf({ subject: null, args: { a: ["x\ny"] } })).toBe('{"a":["x\\ny"]}');
    expect(subjectOf({ subject: null, args: undefined })).toBe("");
    expect(subjectOf({ subject: "a\n b", args: {} })).toBe("a b");
  });

  it("[PAGE-62] counts what a group read", () => {
    const calls = ["read_file", "list_files", "read_file", "list_files", "look"];
    expect(readSummary(calls.map((name) => ({ name })))).toBe(
      "read_file × 2, list_files × 2, look",
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
