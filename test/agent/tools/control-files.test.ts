import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { CONTROL_FILES } from "../../../src/core/files/control-file-table.ts";
import { controlFileIn } from "../../../src/core/files/control-files.ts";
import { testSize } from "../../helpers/size.ts";
import { toolBox } from "../../helpers/tool-box.ts";

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

const PLACES = testSize("control-files");
const NAMES = CONTROL_FILES.map(({ name }) => name);
/** Names that share a folder: to make one and its tools takes longer than to try a name. */
const GROUP = 15;
const GROUPS = Array.from({ length: Math.ceil(NAMES.length / GROUP) }, (_, at) => {
  const names = NAMES.slice(at * GROUP, (at + 1) * GROUP);
  return [names[0], names] as const;
});

/** Paths that a name protects. */
const placesOf = (name: string): string[] => [
  name,
  `${name}/inside.json`,
  `sub/deep/${name}`,
  `a/b/${name}/c`,
];

/** The same paths, with another one first for each number. */
function beginningAt(number: number, paths: readonly string[]): string[] {
  const at = number % paths.length;
  return [...paths.slice(at), ...paths.slice(0, at)];
}

describe("files that other programs execute or obey", () => {
  it.each(GROUPS)(
    "[TOOL-1] %s and those listed after it are never written, at any depth and in any spelling",
    async (_, names) => {
      const box = toolBox({ "sub/deep/file.txt": "x" });
      for (const [at, name] of names.entries()) {
        const last = name.split("/").at(-1) ?? "";
        const [own = "", ...others] = spellings(last);
        const before = name.slice(0, name.length - last.length);
        const other = before + (others[at % others.length] ?? own);
        // each name in one more spelling: in all of them, this takes two minutes
        const paths = [
          ...placesOf(before + own),
          ...beginningAt(at, placesOf(other)).slice(0, PLACES),
        ];
        for (const path of paths) {
          expect(await box.call("write_file", { path, content: "x" }), path).toMatch(
            /^Error: (.* can be read but not written, because .*ask the user|.* is protected: .*ask the user|git's own folder)/,
          );
        }
      }
      expect(existsSync(join(box.repo, "a"))).toBe(false);
    },
  );

  it("[TOOL-1] are those of the table: what is never writable and what waits for a person, with a reason each", () => {
    const named = (rule: string): string[] =>
      CONTROL_FILES.filter((file) => file.rule === rule).map(({ name }) => name);
    expect(named("never")).toEqual([".git", ".reprise", ".claude", ".agents", ".codex"]);
    expect(named("for_now")).toEqual(
      expect.arrayContaining(
        "AGENTS.md CLAUDE.md .mcp.json .vscode .idea .envrc .github/workflows .husky .npmrc .gitattributes .gitmodules".split(
          " ",
        ),
      ),
    );
    expect(CONTROL_FILES.filter(({ reason }) => reason === "")).toEqual([]);
  });

  it.each(
    `.cursor/mcp.json .cursor/rules/a.mdc .cursorrules GEMINI.md .gemini/settings.json CLAUDE.local.md AGENTS.override.md
    .github/copilot-instructions.md .github/prompts/a.md opencode.json .windsurfrules .clinerules .roo/rules.md .kiro/hooks/a
    .amp/settings.json .mise.toml mise.toml .hg/hgrc .jj/repo/config.toml .devcontainer/devcontainer.json .zed/tasks.json
    .vs/tasks.vs.json my.code-workspace sub/MY.CODE-WORKSPACE .nvim.lua .exrc .dir-locals.el .gitlab-ci.yml .circleci/config.yml
    .github/actions/a/action.yml .yarnrc.yml .pnpmfile.cjs bunfig.toml .cargo/config.toml .pre-commit-config.yaml lefthook.yml
    .vim/coc-settings.json .lazy.lua .luarc.json .ycm_extra_conf.py .mvn/extensions.xml .mvn/jvm.config .bundle/config
    rust-toolchain.toml rust-toolchain .bazelrc .bazeliskrc .readthedocs.yaml docs/readthedocs.yml`
      .split(/\s+/)
      .filter((name) => name !== ""),
  )("[PERMISSION-88] %s waits for a person", (path) => {
    expect(controlFileIn(path.split("/"), "for_now")).not.toBeNull();
  });

  it.each(
    `package.json Makefile tsconfig.json Cargo.toml pyproject.toml go.mod pom.xml Dockerfile compose.yaml .gitignore
    .editorconfig .prettierrc .eslintrc.json .tool-versions .nvmrc .github/dependabot.yml .cargo/registry .yarn/cache
    .config/app.json .vim/colours.vim .bundle/ruby rust-toolchain.md mise/readme.md code-workspace.md vite.config.ts .env.example`
      .split(/\s+/)
      .filter((name) => name !== ""),
  )("[PERMISSION-88] %s is an ordinary file", (path) => {
    expect(controlFileIn(path.split("/"))).toBeNull();
  });

  it("[TOOL-1] are not edited, nor written through a link from or to another name", async () => {
    const box = toolBox({
      "AGENTS.md": "old",
      "notes/a.md": "old",
      "plain/.envrc": "old",
      "GITMOD~1": "old",
    });
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
        /^Error: .*(not written|is protected|git's own)/,
      );
    }
    expect(await box.call("read_file", { path: "AGENTS.md" })).toContain("old");
    expect(await box.call("read_file", { path: "notes/a.md" })).toContain("old");
  });

  it("[TOOL-20] are not written if the repository itself is one or lies below one", async () => {
    for (const [at, name] of NAMES.entries()) {
      for (const folder of beginningAt(at, [name, `${name.toUpperCase()}/deep`]).slice(0, PLACES)) {
        const box = toolBox({ config: "old" }, undefined, folder);
        for (const path of ["config", "new/file", join(box.repo, "config")]) {
          expect(await box.call("write_file", { path, content: "x" }), folder).toMatch(/^Error: /);
        }
        expect(readFileSync(join(box.repo, "config"), "utf8")).toBe("old");
      }
    }
    const box = toolBox({ config: "x" }, undefined, "project/.git");
    expect(await box.call("read_file", { path: "config" })).toMatch(/^Error: git's own folder/);
    const github = toolBox({}, undefined, ".github");
    const call = (path: string) => github.call("write_file", { path, content: "x" });
    expect(await call("workflows/ci.yml")).toMatch(/^Error: .*\.github\/workflows is protected/);
    expect(await call("dependabot.yml")).toMatch(/^created/);
  });

  it.each(NAMES.map((name, at) => [name, at] as const))(
    "[TOOL-21] %s as a nested link protects what it leads to, whether or not it is there",
    async (name, at) => {
      const box = toolBox({ "plain/a/file": "old", "other/file": "old" });
      const link = (path: string, target: string): void => {
        mkdirSync(join(box.repo, path, ".."), { recursive: true });
        symlinkSync(join(box.repo, target), join(box.repo, path));
      };
      link(`sub/deep/${name}`, "plain");
      link(`sub/${name.toUpperCase()}`, "missing/file");
      // a link in a folder that has the name through another link
      link("plain/on", "further");
      const paths = ["plain/a/file", "plain/new", "missing/file", "further/new"];
      for (const path of beginningAt(at, paths).slice(0, PLACES)) {
        expect(await box.call("write_file", { path, content: "x" }), path).toMatch(
          /^Error: .*(can be read but not written|is protected|git's own)/,
        );
      }
      expect(await box.call("write_file", { path: "other/file", content: "x" })).toMatch(/^repl/);
    },
  );

  it("[TOOL-21] a link to the folder above a protected one protects only that", async () => {
    const box = toolBox({ "gh/workflows/ci.yml": "old", "gh/x": "old", "ci/x.yml": "old" });
    mkdirSync(join(box.repo, "sub"));
    mkdirSync(join(box.repo, "gh2"));
    symlinkSync("../gh", join(box.repo, "sub/.github"));
    symlinkSync("../gh2", join(box.repo, "sub/.GITHUB"));
    symlinkSync("../ci", join(box.repo, "gh2/workflows"));
    const call = (path: string) => box.call("write_file", { path, content: "x" });
    expect(await call("gh/workflows/ci.yml")).toMatch(/^Error: .*\.github\/workflows is protected/);
    expect(await call("ci/x.yml")).toMatch(/^Error: .*\.github\/workflows is protected/);
    expect(await call("gh/x")).toMatch(/^replaced/);
  });

  it("[TOOL-22] are not written by their short names with a hash, as git takes them", async () => {
    const box = toolBox();
    // the hashes of .gitmodules and .gitattributes are those that git's sources name
    for (const path of ["GI7EBA~1", "sub/gi7eb~10", "gi7d~100", "gi7d29~4", "GI7D29~1.x"]) {
      expect(await box.call("write_file", { path, content: "x" }), path).toMatch(
        /^Error: .* (can be read but not written|is protected)/,
      );
    }
    for (const path of ["GI7EBB~1", "gi7eba~12", "gi~1", "x~100000"]) {
      expect(await box.call("write_file", { path, content: "x" }), path).toMatch(/^created/);
    }
  });

  it("[TOOL-2] [TOOL-23] names that only look alike are not protected", async () => {
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

  it("[TOOL-2] a tool reads git's own folder under no spelling", async () => {
    const box = toolBox({ "sub/.git/config": "secret", "sub/.GIT./config": "secret" });
    for (const path of ["sub/.git/config", "sub/.GIT./config", "sub/.g\u200cit/config"]) {
      expect(await box.call("read_file", { path })).toMatch(/^Error: git's own folder/);
    }
    expect(await box.call("search_files", { text: "secret" })).toBe("(no line holds this text)");
  });
});
