import { describe, expect, it } from "vitest";

import { callViews } from "../../../src/agent/hooks/call-views.ts";

const patch = (...lines: readonly string[]) => ({
  patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"),
});

type Seen = readonly (readonly [tool: string, input: object])[];

describe("[HOOK-12] [HOOK-16] [HOOK-50] a call as Claude Code's hooks see it", () => {
  it.each<readonly [string, unknown, Seen]>([
    [
      "run_command",
      { argv: ["npm", "test"], timeout_s: 5 },
      [["Bash", { command: "npm test", timeout: 5000 }]],
    ],
    ["run_command", { line: "ls | wc" }, [["Bash", { command: "ls | wc" }]]],
    [
      "update_tasks",
      {
        tasks: [
          { text: "one", state: "done" },
          { text: "two", state: "running" },
          { text: "x", state: "pending" },
        ],
      },
      [
        [
          "TodoWrite",
          {
            todos: [
              { content: "one", status: "completed", activeForm: "one" },
              { content: "two", status: "in_progress", activeForm: "two" },
              { content: "x", status: "pending", activeForm: "x" },
            ],
          },
        ],
      ],
    ],
    ["update_tasks", { tasks: "none" }, [["TodoWrite", { todos: [] }]]],
    [
      "write_file",
      { path: "a.ts", content: "x" },
      [["Write", { file_path: "/w/a.ts", content: "x" }]],
    ],
    ["write_file", { path: "/w/a.ts", content: "x" }, [["Write", { file_path: "/w/a.ts" }]]],
    [
      "edit_file",
      { path: "src/a.ts", old_text: "a", new_text: "b", replace_all: true },
      [["Edit", { file_path: "/w/src/a.ts", old_string: "a", new_string: "b", replace_all: true }]],
    ],
    [
      "multi_edit",
      {
        edits: [
          { path: "a", old_text: "1", new_text: "2" },
          { path: "b", old_text: "3", new_text: "4" },
          { path: "a", old_text: "5", new_text: "6" },
        ],
      },
      [
        ["MultiEdit", { file_path: "/w/a", old_string: "1\n5", new_string: "2\n6" }],
        ["MultiEdit", { file_path: "/w/b", old_string: "3", new_string: "4" }],
      ],
    ],
    [
      "apply_patch",
      patch(
        "*** Add File: new",
        "+n",
        "*** Update File: old",
        "*** Move to: moved",
        "@@",
        " same",
        "-x",
        "+y",
        "*** Delete File: gone",
      ),
      [
        ["Write", { file_path: "/w/new", content: "n\n" }],
        ["Edit", { file_path: "/w/old", old_string: "same\nx", new_string: "same\ny" }],
        ["Write", { file_path: "/w/moved", content: "same\ny" }],
        ["Edit", { file_path: "/w/gone" }],
      ],
    ],
    ["apply_patch", { patch: "nothing" }, [["apply_patch", { patch: "nothing" }]]],
    ["read_file", { path: "a" }, [["Read", { file_path: "/w/a" }]]],
    ["list_files", {}, [["LS", { path: "/w" }]]],
    ["find_files", { pattern: "*.ts" }, [["Glob", { pattern: "*.ts", path: "/w" }]]],
    ["search_files", { text: "x", files: "*.md" }, [["Grep", { pattern: "x", glob: "*.md" }]]],
    ["delegate", { task: "do", persona: "p" }, [["Task", { prompt: "do", subagent_type: "p" }]]],
    ["files__read", { any: 1 }, [["mcp__files__read", { any: 1 }]]],
    ["git_commit", { message: "m" }, [["git_commit", { message: "m" }]]],
    // a model may send anything
    ["write_file", null, [["Write", { file_path: "/w", content: "" }]]],
    ["multi_edit", { edits: [1, null] }, [["MultiEdit", { file_path: "/w" }]]],
    ["run_command", [], [["Bash", { command: "" }]]],
  ])("%s(%j)", (name, args, expected) => {
    const views = callViews({ name, args }, "/w");
    expect(views.map(({ names, input }) => [names[1] ?? names[0], input])).toMatchObject(
      expected.map(([tool, input]) => [tool, input]),
    );
    expect(views.every(({ names }) => names[0] === name)).toBe(true);
  });
});
