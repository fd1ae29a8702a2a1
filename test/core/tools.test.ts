import { describe, expect, it } from "vitest";

import { isServerTool, type Tool, ToolSet } from "../../src/core/tools.ts";

const named = (name: string): Tool => ({ name, effect: "reads", repeatable: true });

describe("a set of tools", () => {
  it.each(["pay", "github__create-issue", "Read", "7", "x".repeat(64)])(
    "takes the name %j",
    (name) => {
      expect(new ToolSet([named(name)]).names).toEqual([name]);
    },
  );

  it.each(["", "a b", "a.b", "a(b)", "ü", "x".repeat(65), "a\n"])("refuses the name %j", (name) => {
    expect(() => new ToolSet([named(name)])).toThrow("Rename the tool");
  });

  it("has each name once", () => {
    const set = new ToolSet([named("a"), named("b")]);
    expect(() => set.with([named("c"), named("a")])).toThrow("two tools named a");
    expect(set.with([named("c")]).names).toEqual(["a", "b", "c"]);
  });

  it("takes a tool that nobody declared for one that changes something, once more at each call", () => {
    expect(new ToolSet([]).get("deploy")).toEqual({
      name: "deploy",
      effect: "changes",
      repeatable: false,
    });
  });
});

it("reads from a name whether a server has the tool", () => {
  expect(["github__issues", "a__b", "a___"].map(isServerTool)).toEqual([true, true, true]);
  expect(["__a", "a__", "a_b", "read_file", "a__b c"].map(isServerTool)).toEqual(
    Array.from({ length: 5 }, () => false),
  );
});
