import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, relative } from "node:path";

import { describe, expect, it } from "vitest";

import { STARTED } from "../../../src/workspace/places/git-user.ts";
import { isInside } from "../../../src/workspace/files/real-path.ts";
import type { GitUser } from "../../../src/workspace/places/ask-git.ts";
import { findControlPlaces } from "../../../src/workspace/places/control-places.ts";
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

/** A repository with files; `$RELATIVE` in a value is its folder as seen from the home of the account. */
function repository(
  settings: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
): string {
  const root = tree(files);
  execFileSync("git", ["init", "-q", root]);
  for (const [key, value] of Object.entries(settings)) {
    const given = value.replace("$RELATIVE", relative(userInfo().homedir, root));
    execFileSync("git", ["-C", root, "config", key, given]);
  }
  return root;
}

async function isProtected(root: string, path: string, user: Partial<GitUser> = {}) {
  const search = { user: { home: root, env: {}, ...user } };
  const { places, missed } = await findControlPlaces(root, search);
  expect(missed).toEqual([]);
  return [...places.keys()].some((place) => isInside(place, join(root, path)));
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

  it.each([
    ["core.fsmonitor", "'my tools/f.sh'", "my tools/f.sh"],
    ["filter.z.clean", '"my tools/f.sh" %f', "my tools/f.sh"],
    ["filter.z.clean", "my\\ tools/f.sh %f", "my tools/f.sh"],
    ["core.fsmonitor", "'$HOME/my tools/f.sh'", "my tools/f.sh"],
    ["core.sshcommand", "ssh -F sshconf", "sshconf"],
    ["core.sshcommand", "ssh -Fs/sshconf", "s/sshconf"],
    ["core.sshcommand", "ssh -o IdentityFile=keys/a", "keys/a"],
    ["core.editor", "vim -u vimrc", "vimrc"],
    ["filter.z.process", "node filter", "filter/index.js"],
    ["filter.z.process", "node --no-warnings ./tools/filter", "tools/filter.js"],
    ["core.hookspath", `~${userInfo().username}/$RELATIVE/hooks`, "hooks/pre-commit"],
    ["alias.st", "!cd t && ./st.sh", "t/st.sh"],
    ["filter.z.clean", "PATH=t:$PATH f.sh", "t/f.sh"],
    ["core.fsmonitor", "env --chdir=t ./x", "t/x"],
    ["filter.z.clean", '"/opt/any env/bin/python3" -m nbstripout', "nbstripout.py"],
    ["filter.z.clean", "/opt/venv/bin/python -m tools.strip", "tools/strip/__main__.py"],
    ["filter.z.clean", "$(git rev-parse --show-toplevel)/t/f.sh", "t/f.sh"],
    ["lfs.extension.e.clean", "t/x %f", "t/x"],
    ["lfs.customtransfer.c.path", "t/x", "t/x"],
  ])("[SANDBOX-32] what %s = %s names: %s", async (key, value, path) => {
    const root = repository({ [key]: value }, { [path]: "" });
    expect(await isProtected(root, path)).toBe(true);
  });

  it.each([
    ["core.editor", "vim", "vim"],
    ["core.editor", "code --wait", "code/wait"],
    ["core.pager", "less -R", "less"],
    ["credential.helper", "!gh auth git-credential", "auth/index.ts"],
    ["filter.lfs.process", "git-lfs filter-process", "filter-process/a"],
    ["filter.lfs.clean", "git-lfs clean -- %f", "clean/a"],
    ["init.defaultbranch", "main", "main"],
    ["filter.z.clean", "sh -c 'docker run -i x'", "docker/a"],
    ["alias.b", "!npm run build", "build/a"],
    ["alias.c", "!cat Makefile", "Makefile"],
  ])("[SANDBOX-32] nothing else for %s = %s: %s", async (key, value, path) => {
    const root = repository({ [key]: value }, { [path]: "" });
    expect(await isProtected(root, path)).toBe(false);
  });

  it.each([
    ["core.hooksPath", "$ROOT/hooks", "hooks/pre-commit"],
    ["alias.x", "!$ROOT/tools/x.sh --all", "tools/x.sh"],
    ["include.path", "$ROOT/more.conf", "more.conf"],
  ])("[SANDBOX-32] %s of the user, without a repository", async (key, value, path) => {
    const [root, home] = [tree({ [path]: "" }), temporaryFolder()];
    const file = join(home, ".gitconfig");
    execFileSync("git", ["config", "--file", file, key, value.replace("$ROOT", root)]);
    expect(await isProtected(root, path, { home })).toBe(true);
    execFileSync("git", ["config", "--file", file, key, path]);
    expect(await isProtected(root, path, { home })).toBe(false);
  });

  it.each([".gitconfig", ".config/git/config", ".config/git/attributes"])(
    "[SANDBOX-32] ~/%s, if it is a link into the folder, also an empty one",
    async (name) => {
      const root = tree({ "dotfiles/git": "" });
      const home = tree({ [name]: `-> ${root}/dotfiles/git` });
      expect(await isProtected(root, "dotfiles/git", { home })).toBe(true);
      expect(await isProtected(root, "dotfiles/other", { home })).toBe(false);
    },
  );

  it.each<[string, Readonly<Record<string, string>>]>([
    [
      "GIT_CONFIG_COUNT",
      { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.hooksPath", GIT_CONFIG_VALUE_0: "t" },
    ],
    ["GIT_CONFIG_PARAMETERS", { GIT_CONFIG_PARAMETERS: "'core.hooksPath'='t'" }],
    ["GIT_TEMPLATE_DIR", { GIT_TEMPLATE_DIR: "t" }],
    ...STARTED.map((name): [string, Readonly<Record<string, string>>] => [
      name,
      { [name]: "./t/x --wait" },
    ]),
  ])("[SANDBOX-32] what %s in the environment names", async (_, env) => {
    const root = repository({}, { "t/x": "" });
    expect(await isProtected(root, "t/x", { env })).toBe(true);
    expect(await isProtected(root, "t/x")).toBe(false);
  });

  it.each([
    ".git/hooks/pre-commit",
    ".git/config",
    ".vscode/tasks/a.json",
    "tools/hooks/post-merge",
  ])("[SANDBOX-7] the other name of %s", async (name) => {
    const root = repository({ "core.hooksPath": "tools/hooks" }, { "s/own": "", "s/other": "" });
    mkdirSync(dirname(join(root, name)), { recursive: true });
    rmSync(join(root, name), { force: true });
    linkSync(join(root, "s/own"), join(root, name));
    expect(await isProtected(root, "s/own")).toBe(true);
    expect(await isProtected(root, "s/other")).toBe(false);
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
