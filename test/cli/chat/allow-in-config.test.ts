import { expect, it } from "vitest";

import { offeredChoices } from "../../../src/cli/chat/allow-in-config.ts";
import { permissionChoices } from "../../../src/core/text/words.ts";
import { contextOf } from "../../helpers/call-program.ts";

it.each([
  ["write_file", ["write_file"], true],
  ["github__create-issue", ["github__create-issue"], true],
  // the config could not be read any more
  ["deploy-now", ["deploy-now"], false],
  // one rule for each file
  ["apply_patch", ["apply_patch(a)", "apply_patch(b)"], false],
  ["write_file", null, false],
])("the config may allow %s with the rules %j: %s", (tool, rules, isOffered) => {
  const { cli } = contextOf([], { cwd: "/", env: { HOME: "/home/ada" }, script: "reprise.js" });
  const choices = permissionChoices(rules);
  const permission = {
    tool,
    subject: null,
    rule: "*",
    layer: "built-in",
    may_last: rules !== null,
  };
  const offered = offeredChoices(cli, { choices, permission }, "/home/ada/work");
  expect(offered.grant).toEqual(isOffered ? { rule: tool, folder: "/home/ada/work" } : null);
  expect(offered.choices?.some(({ id }) => id === "allow_folder")).toBe(isOffered);
});
