import { expect, it } from "vitest";

import { ALLOW_IN_CONFIG, PERMISSION_ANSWERS } from "../../src/core/permissions.ts";
import { offeredChoices } from "../../src/cli/allow-in-config.ts";
import { effectOfYes } from "../../src/exchange/permissions/rule.ts";
import { contextOf } from "../helpers/call-program.ts";

it.each([
  ["write_file", true],
  ["github__create-issue", true],
  // the config could not be read any more
  ["deploy-now", false],
])("the config may allow %s: %s", (tool, isOffered) => {
  const { cli } = contextOf([], { cwd: "/", env: { HOME: "/home/ada" }, script: "reprise.js" });
  const choices = Object.values(PERMISSION_ANSWERS);
  const effect = effectOfYes({ tool, pattern: null });
  const offered = offeredChoices(cli, { kind: "permission", choices, effect }, "/home/ada/work");
  expect(offered.grant).toEqual(isOffered ? { rule: tool, folder: "/home/ada/work" } : null);
  expect(offered.choices?.includes(ALLOW_IN_CONFIG)).toBe(isOffered);
});
