import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { CONTROL_FILES } from "../../../src/core/control-files.ts";
import { toolBox } from "./tool-box.ts";

/** Spellings that some file system takes for the same name. */
function spellings(name: string): string[] {
  return [
    name,
    name.toUpperCase(),
    `${name}.`,
    `${name}. .`,
    `${name}::$DATA`,
    name.replace("c", "\uff43"),
    `${name.slice(0, 2)}\u200c${name.slice(2)}`,
    name.replace("s", "\u017f"),
  ];
}

describe("files that other programs execute or obey", () => {
  it.each(CONTROL_FILES.map(({ name }) => name))(
    "[TOOL-1] %s is never written, at any depth and in any spelling",
    async (name) => {
      const box = toolBox({ "sub/deep/file.txt": "x" });
      const last = name.split("/").at(-1) ?? "";
      for (const spelling of spellings(last)) {
        const whole = name.slice(0, name.length - last.length) + spelling;
        for (const path of [whole, `${whole}/inside.json`, `sub/deep/${whole}`, `a/b/${whole}/c`]) {
          expect(await box.call("write_file", { path, content: "x" }), path).toMatch(
            /^Error: (.* can be read but not written, because .*; ask the user|git's own folder)/,
          );
        }
      }
      expect(existsSync(join(box.repo, "a"))).toBe(false);
    },
  );

  it("[TOOL-1] are the table's: what is never writable and what waits for a person, a reason each", () => {
    const named = (rule: string): string[] =>
      CONTROL_FILES.filter((file) => file.rule === rule).map(({ name }) => name);
    expect(named("never")).toEqual([".git", ".reprise", ".claude", ".agents", ".codex"]);
    expect(named("for_now")).toEqual(
      "AGENTS.md CLAUDE.md .mcp.json .vscode .idea .envrc .github/workflows .husky .npmrc .gitattributes .gitmodules".split(
        " ",
      ),
    );
    expect(CONTROL_FILES.filter(({ reason }) => reason === "")).toEqual([]);
  });

  it("[TOOL-1] are not edited, nor written through a link from or to another name", async () => {
    const box = toolBox({ "AGENTS.md": "old", "notes/a.md": "old", "plain/.envrc": "old" });
    symlinkSync("notes", join(box.repo, ".claude"));
    symlinkSync("plain/.envrc", join(box.repo, "innocent"));
    for (const path of [
      "AGENTS.md",
      "notes/a.md",
      ".claude/a.md",
      "innocent",
      "GIT~1",
      "GITMOD~1",
    ]) {
      expect(await box.call("edit_file", { path, old_text: "old", new_text: "new" })).toMatch(
        /^Error: .*(not written|git's own)/,
      );
    }
    expect(await box.call("read_file", { path: "AGENTS.md" })).toContain("old");
    expect(await box.call("read_file", { path: "notes/a.md" })).toContain("old");
  });

  it("[TOOL-2] leaves names that only look alike", async () => {
    const box = toolBox();
    for (const path of [
      ".gitignore",
      "git/x",
      ".github/ISSUE_TEMPLATE/x.md",
      "workflows/x",
      "AGENTS.md.txt",
      ".envrc.example",
      "docs/claude.md.txt",
      "x~1",
    ]) {
      expect(await box.call("write_file", { path, content: "x" })).toMatch(/^created/);
    }
  });

  it("[TOOL-2] reads no spelling of git's own folder", async () => {
    const box = toolBox({ "sub/.git/config": "secret", "sub/.GIT./config": "secret" });
    for (const path of ["sub/.git/config", "sub/.GIT./config", "sub/.g\u200cit/config"]) {
      expect(await box.call("read_file", { path })).toMatch(/^Error: git's own folder/);
    }
    expect(await box.call("search_files", { text: "secret" })).toBe("(no line holds this text)");
  });
});
