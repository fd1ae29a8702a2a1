import { expect, it } from "vitest";

import { RepriseError } from "../../../src/core/errors.ts";
import {
  furtherLines,
  offeredChoices,
  storedAnswer,
} from "../../../src/cli/chat/allow-in-config.ts";
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
  const offered = offeredChoices(
    cli,
    { choices, permission },
    { folder: "/home/ada/work", setEdits: null },
  );
  expect(offered.grant).toEqual(isOffered ? { rule: tool, folder: "/home/ada/work" } : null);
  expect(offered.choices?.some(({ id }) => id === "allow_folder")).toBe(isOffered);
});

it.each([
  ["write_file", "write_file", "built-in", true],
  ["apply_patch", "apply_patch", "built-in", true],
  // the mode would not lift what asks
  ["write_file", "write_file(AGENTS.md)", "built-in", false],
  ["apply_patch", "apply_patch, apply_patch(AGENTS.md)", "built-in", false],
  ["write_file", "write_file", "config", false],
  ["run_command", "run_command", "built-in", false],
  ["github__write", "*", "built-in", false],
])(
  "[TERM-192] a call of %s about which %s (%s) asks can set the mode edits: %s",
  (tool, rule, layer, isOffered) => {
    const { cli } = contextOf([], { cwd: "/", env: { HOME: "/home/ada" }, script: "reprise.js" });
    const choices = permissionChoices(["write_file(a.txt)"]);
    const permission = { tool, subject: "a.txt", rule, layer, may_last: true };
    const setEdits = async () => undefined;
    const offered = offeredChoices(cli, { choices, permission }, { folder: null, setEdits });
    expect(offered.choices?.some(({ id }) => id === "allow_edits")).toBe(isOffered);
    expect(offered.allowEdits).toBe(isOffered ? setEdits : null);
    expect(furtherLines({ choices }, offered)).toHaveLength(isOffered ? 1 : 0);
  },
);

it("[TERM-192] sets the mode first, and answers nothing if that fails", async () => {
  const { cli, written } = contextOf([], { cwd: "/", env: {}, script: "reprise.js" });
  const done: string[] = [];
  const given = { choice: "allow_edits", text: "allow this and all edits", note: null };
  const offered = { choices: [], grant: null };
  const setEdits = async () => void done.push("set");
  expect(await storedAnswer(cli, given, { ...offered, allowEdits: setEdits })).toEqual({
    ...given,
    choice: "allow_once",
  });
  expect(done).toEqual(["set"]);
  const fails = async () => Promise.reject(new RepriseError("session_ended", "It has ended."));
  expect(await storedAnswer(cli, given, { ...offered, allowEdits: fails })).toBeNull();
  expect(written().stderr).toContain("It has ended. The question stays open.");
});
