import { expect, it } from "vitest";

import { toolCallLine } from "../../src/cli/tool-lines.ts";

it.each([
  ["read_file", { path: "a b.js" }, "a b.js"],
  ["read_file", { path: "a.js", offset: 9 }, '{"path":"a.js","offset":9}'],
  ["write_file", { path: "a.js", content: "text" }, "a.js"],
  ["edit_file", { path: "a.js\n· run_command\u001b[2J", old_text: "" }, "a.js · run_command␛[2J"],
  ["edit_file", { old_text: "a" }, '{"old_text":"a"}'],
  ["multi_edit", { edits: [{ path: "a.js" }, { path: "b.js" }, { path: "a.js" }] }, "a.js, b.js"],
  ["multi_edit", { edits: [{ path: "a.js" }, 7] }, '{"edits":[{"path":"a.js"},7]}'],
  ["multi_edit", { edits: [] }, '{"edits":[]}'],
  [
    "apply_patch",
    { patch: "*** Update File: a.js\n*** Move to: b.js\r\n*** Add File: c.js\n+ *** Add File: d" },
    "a.js, b.js, c.js",
  ],
  ["apply_patch", { patch: "text" }, '{"patch":"text"}'],
  ["write_file", null, "null"],
  ["delegate", { path: "a.js" }, '{"path":"a.js"}'],
  ["run_command", { argv: ["npm", "a b"] }, 'npm "a b"'],
])("[CLI-103] the line of a call of %s with %j shows what it is about", (name, args, shown) => {
  expect(toolCallLine({ name, args })).toBe(`· ${name} ${shown}`);
});
