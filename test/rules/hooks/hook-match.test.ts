import { describe, expect, it } from "vitest";

import { hooksDigest } from "../../../src/rules/hooks/digest.ts";
import { hooksOf } from "../../../src/rules/hooks/hook.ts";
import { matches } from "../../../src/rules/hooks/hook-match.ts";
import { toolNames } from "../../../src/rules/hooks/tool-names.ts";

describe("[HOOK-2] what a hook is for", () => {
  it.each([
    [null, "run_command", true],
    ["*", "run_command", true],
    ["Bash", "run_command", true],
    ["run_command", "run_command", true],
    ["bash", "run_command", false],
    ["Write", "write_file", true],
    ["Write|Edit", "edit_file", true],
    ["Write|Edit", "multi_edit", true],
    ["Write", "apply_patch", true],
    ["Edit|MultiEdit", "read_file", false],
    ["Read", "read_file", true],
    ["^(Write|Edit)$", "write_file", true],
    ["Edit", "multi_edit", true],
    ["Multi.*", "multi_edit", true],
    ["mcp__.*", "files__read", true],
    ["mcp__files__read", "files__read", true],
    ["files__.*", "files__read", true],
    ["mcp__.*", "write_file", false],
    ["(", "write_file", "SyntaxError"],
  ])("%s for a call of %s: %s", (match, tool, expected) => {
    const answer = () => matches({ match }, toolNames(tool));
    if (typeof expected === "string") {
      expect(answer).toThrow(SyntaxError);
    } else {
      expect(answer()).toBe(expected);
    }
  });

  it("[HOOK-70] is everything for an expression that takes too long, and nothing of one is run", () => {
    const name = `server__${"a".repeat(30)}`;
    expect(matches({ match: String.raw`__(\w+)+-` }, [name])).toBe(true);
    expect(matches({ match: String.raw`"\).*//` }, [name])).toBe(false);
    expect(matches({ match: "\u2028|never" }, [name])).toBe(false);
    expect(matches({ match: "^a/b$" }, ["a/b"])).toBe(true);
  });

  it("[HOOK-30] is other hooks if anything of it changes", () => {
    const hook = { match: "Bash", command: "a" };
    const kinds = [
      { PreToolUse: [hook] },
      { PostToolUse: [hook] },
      { PreToolUse: [hook, hook] },
      { PreToolUse: [{ ...hook, match: "Edit" }] },
      { PreToolUse: [{ ...hook, command: "b" }] },
      { PreToolUse: [{ ...hook, timeout_ms: 1 }] },
    ];
    expect(new Set(kinds.map((kind) => hooksDigest(hooksOf(kind)))).size).toBe(kinds.length);
  });
});
