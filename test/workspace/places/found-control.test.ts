import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { createLinkSearch } from "../../../src/workspace/files/control-links.ts";
import { locate } from "../../../src/rules/paths/resolve-path.ts";
import { resolveSandbox } from "../../../src/rules/paths/sandbox.ts";
import { decide } from "../../../src/rules/permissions/decide.ts";
import { flagLayer } from "../../../src/rules/permissions/layers.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";
import { createControlSearch } from "../../../src/workspace/places/found-control.ts";
import { makeFolder } from "../../helpers/temp.ts";

const home = makeFolder();
afterAll(() => home[Symbol.dispose]());

function repository(): string {
  const root = home.path;
  execFileSync("git", ["init", "-q", root]);
  for (const setting of ["core.hooksPath=tools/hooks", "core.fsmonitor=sh tools/fsm.sh"]) {
    execFileSync("git", ["-C", root, "config", ...setting.split(/=(.*)/s).slice(0, 2)]);
  }
  mkdirSync(join(root, "tools"));
  writeFileSync(join(root, "tools/fsm.sh"), "");
  return root;
}

async function effectOf(repoPath: string, name: string, path: string, allow: string[] = []) {
  const tool = BUILT_IN_TOOLS.get(name);
  const sandbox = await resolveSandbox({
    repoPath,
    protectedPaths: [],
    linked: createLinkSearch(),
    found: createControlSearch({ home: repoPath, env: {} }),
  });
  const { file } = await locate(sandbox, { path, tool });
  const { effect, reason } = decide({
    call: { tool, file, command: null },
    mode: "edits",
    tools: BUILT_IN_TOOLS,
    user: [flagLayer(allow, BUILT_IN_TOOLS)],
    restricting: [],
    asks: true,
  });
  return { effect, reason };
}

describe("what the tools for files ask about", () => {
  const root = repository();

  it.each([
    ["write_file", "tools/hooks/pre-commit", "tools/hooks is protected"],
    ["edit_file", "tools/fsm.sh", "tools/fsm.sh is protected"],
    ["apply_patch", "tools/hooks/new/file", "tools/hooks is protected"],
    ["multi_edit", "tools/fsm.sh", "tools/fsm.sh is protected"],
  ])("[TOOL-27] %s on %s, which git's configuration names", async (tool, path, why) => {
    const { effect, reason } = await effectOf(root, tool, path);
    expect(effect).toBe("ask");
    expect(reason).toContain(why);
    expect(reason).toContain("git's configuration names it");
  });

  it.each(["tools/other.sh", "tools", "hooks/pre-commit"])(
    "[TOOL-27] nothing else: %s",
    async (path) => {
      expect(await effectOf(root, "write_file", path)).toEqual({ effect: "allow", reason: null });
    },
  );

  it("[TOOL-28] the last file that makes a folder a repository, whatever it is called", async () => {
    mkdirSync(join(root, "plain/objects"), { recursive: true });
    mkdirSync(join(root, "plain/refs"));
    expect((await effectOf(root, "write_file", "plain/config")).effect).toBe("allow");
    expect((await effectOf(root, "write_file", "plain/HEAD")).effect).toBe("ask");
    writeFileSync(join(root, "plain/HEAD"), "ref: refs/heads/main\n");
    expect((await effectOf(root, "write_file", "plain/config")).effect).toBe("ask");
  });

  it("[TOOL-27] nothing that only reads", async () => {
    expect((await effectOf(root, "read_file", "tools/fsm.sh")).effect).toBe("allow");
  });

  it.each([
    ["write_file(**)", "ask"],
    ["write_file", "ask"],
    ["write_file(tools/**)", "ask"],
    ["write_file(tools/hooks/**)", "allow"],
  ])("[TOOL-27] with the rule %s: %s", async (rule, effect) => {
    const given = await effectOf(root, "write_file", "tools/hooks/pre-commit", [rule]);
    expect(given.effect).toBe(effect);
  });
});
