import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { describe, expect, it } from "vitest";

import { findControlPlaces } from "../../../src/exchange/places/control-places.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** Makes files, and links for contents that begin with `->`; a name that ends with `/` is an empty folder. */
function tree(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
    if (content.startsWith("-> ")) {
      symlinkSync(content.slice(3), path);
    } else if (!name.endsWith("/")) {
      writeFileSync(path, content);
    }
  }
  return root;
}

async function placesOf(files: Readonly<Record<string, string>>, below = ""): Promise<string[]> {
  const root = join(tree(files), below);
  const { places, missed } = await findControlPlaces(root, { user: { home: root, env: {} } });
  expect(missed).toEqual([]);
  return [...places.keys()].map((path) => relative(root, path) || ".").sort();
}

describe("what is read-only in a folder", () => {
  it.each([
    [
      "names at every depth",
      { "AGENTS.md": "", "a/b/.envrc": "", "a/.vscode/t.json": "" },
      ["AGENTS.md", "a/.vscode", "a/b/.envrc"],
    ],
    [
      "other spellings",
      { ".GIT/config": "", "agents.MD": "", "GIT~1/": "", ".git. /": "" },
      [".GIT", ".git. ", "GIT~1", "agents.MD"],
    ],
    [
      "workflows of GitHub, and nothing else there",
      { ".github/workflows/ci.yml": "", ".github/FUNDING.yml": "" },
      [".github/workflows"],
    ],
    [
      "nothing in node_modules",
      { "node_modules/a/.npmrc": "", "a/node_modules/b/AGENTS.md": "" },
      [],
    ],
    ["nothing but itself in such a folder", { ".git/hooks/AGENTS.md": "" }, [".git"]],
    [
      "where a link of such a name leads",
      { "AGENTS.md": "-> docs/agents.txt", "docs/agents.txt": "" },
      ["AGENTS.md", "docs/agents.txt"],
    ],
    [
      "links below such a folder",
      { ".claude/commands": "-> ../plain", "plain/x.md": "" },
      [".claude", "plain"],
    ],
    [
      "a link that could hold such a name",
      { ".github": "-> gh", "gh/workflows/ci.yml": "" },
      [".github", "gh"],
    ],
    ["all of a folder that a link leads to", { ".claude": "-> ." }, [".", ".claude"]],
    [
      "no file outside the folder",
      { "AGENTS.md": "-> /etc/hostname", ".claude": "-> /", ".codex": "-> /nowhere" },
      [".", ".claude", ".codex", "AGENTS.md"],
    ],
    [
      "the git folder of a worktree",
      {
        ".git": "gitdir: gits/one\n",
        "gits/one/commondir": "../shared\n",
        "gits/shared/config": "",
      },
      [".git", "gits/one", "gits/shared"],
    ],
    [
      "hooks that git's configuration names",
      {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/objects/": "",
        ".git/refs/": "",
        ".git/config": "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../git.conf\n",
        "tools/hooks/pre-commit": "",
        "git.conf": "",
      },
      [".git", "git.conf", "tools/hooks"],
    ],
    [
      "a repository without .git",
      { "bare/HEAD": "", "bare/objects/": "", "bare/refs/": "", "bare/config": "" },
      ["bare"],
    ],
    ["one that borrows its objects", { "bare/HEAD": "", "bare/commondir": "x" }, ["bare"]],
    [
      "no folder that is nearly a repository",
      { "a/HEAD": "", "a/objects/": "", "b/objects/": "", "b/refs/": "" },
      [],
    ],
  ])("[SANDBOX-7] %s", async (_, files, expected) => {
    expect(await placesOf(files)).toEqual([...expected].sort());
  });

  it("[SANDBOX-7] all of a folder that is below such a name", async () => {
    expect(await placesOf({ ".claude/worktrees/a/file": "" }, ".claude/worktrees/a")).toEqual([
      ".",
    ]);
  });

  it("[SANDBOX-7] all of a folder that is a repository", async () => {
    expect(await placesOf({ HEAD: "", "objects/": "", "refs/": "" })).toContain(".");
  });
});
