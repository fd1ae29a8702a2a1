import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { makeCommit } from "../../../src/agent/git/make-commit.ts";
import { prepareCommit } from "../../../src/agent/git/prepare-commit.ts";
import { createGit } from "../../../src/agent/git/run-git.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

function repository(files: Readonly<Record<string, string>> = { "a.txt": "one\n" }) {
  const home = temporaryFolder();
  const folder = join(home, "project");
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, HOME: home },
    });
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  mkdirSync(folder);
  writeFileSync(
    join(home, ".gitconfig"),
    "[user]\nname = Ada\nemail = ada@example.com\n[commit]\ngpgSign = true\n",
  );
  git("init", "-q", "-b", "main");
  Object.entries(files).forEach(([name, content]) => write(name, content));
  git("add", "-A");
  git("-c", "commit.gpgSign=false", "commit", "-q", "-m", "first");
  const safe = createGit({ folder, env: { HOME: home } });
  const commit = async (paths: readonly string[], message = "second") =>
    makeCommit(safe, await prepareCommit(safe, paths), message);
  return { home, folder, git, write, commit, safe };
}

describe("a commit that Reprise makes", () => {
  it("[SANDBOX-20] has the paths alone, and leaves staged what else is staged", async () => {
    const { folder, git, write, commit } = repository({
      "a.txt": "one\n",
      "b.txt": "b\n",
      "c/d.txt": "d\n",
      ".gitignore": "ignored\n",
    });
    write("a.txt", "two\n");
    write("b.txt", "staged\n");
    git("add", "b.txt");
    rmSync(join(folder, "c/d.txt"));
    write("c/new *.txt", "new\n");
    write("ignored", "x");
    const id = await commit(["a.txt", "c", "ignored"], "Change a\n\nBecause.");
    expect(
      git("show", "--name-status", "--format=%an%n%B", id).split("\n").filter(Boolean),
    ).toEqual(["Ada", "Change a", "Because.", "M\ta.txt", "D\tc/d.txt", "A\tc/new *.txt"]);
    expect(git("status", "--porcelain")).toBe("M  b.txt\n");
    expect(git("rev-parse", "main").trim()).toBe(id);
  });

  it("[SANDBOX-20] can be the first one", async () => {
    const { folder, git, write, commit } = repository();
    rmSync(join(folder, ".git"), { recursive: true });
    git("init", "-q");
    write("b.txt", "b");
    await commit(["b.txt"]);
    expect(git("show", "--name-only", "--format=%s")).toBe("second\n\nb.txt\n");
  });

  it("[SANDBOX-21] runs no hook, monitor, signing program or editor", async () => {
    const { home, folder, git, write, commit } = repository();
    const program = join(home, "program");
    writeFileSync(program, `#!/bin/sh\ntouch ${join(home, "EXECUTED")}\n`);
    chmodSync(program, 0o755);
    for (const hook of [
      "pre-commit",
      "post-commit",
      "reference-transaction",
      "post-index-change",
    ]) {
      mkdirSync(join(folder, ".git/hooks"), { recursive: true });
      writeFileSync(join(folder, ".git/hooks", hook), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    }
    for (const name of [
      "core.fsmonitor",
      "core.editor",
      "gpg.program",
      "core.pager",
      "diff.external",
    ]) {
      git("config", name, program);
    }
    rmSync(join(home, "EXECUTED"), { force: true });
    write("a.txt", "two\n");
    await commit(["a.txt"]);
    expect(existsSync(join(home, "EXECUTED"))).toBe(false);
  });

  it.each<[string, RegExp, (all: ReturnType<typeof repository>) => void]>([
    ["a filter", /filter\.x\.clean/, ({ git }) => git("config", "filter.x.clean", "evil")],
    ["another file", /include\.path/, ({ git }) => git("config", "include.path", "../evil")],
    [
      "another working tree",
      /core\.worktree/,
      ({ git, folder }) => git("config", "core.worktree", folder),
    ],
    [
      "another common folder",
      /unusual|git refused/,
      ({ write }) => write(".git/commondir", "../evil"),
    ],
    [
      "a merge",
      /not finished/,
      ({ git, write }) => write(".git/MERGE_HEAD", git("rev-parse", "HEAD")),
    ],
    ["nothing changed", /nothing to commit/, ({ git }) => git("checkout", "-q", "--", "a.txt")],
  ])("[SANDBOX-21] is refused with %s", async (_, reason, plant) => {
    const all = repository();
    all.write("a.txt", "two\n");
    plant(all);
    await expect(all.commit(["a.txt"])).rejects.toThrow(reason);
  });

  it("[SANDBOX-21] is refused if the branch has another commit by then", async () => {
    const { git, write, safe } = repository();
    write("a.txt", "two\n");
    const prepared = await prepareCommit(safe, ["a.txt"]);
    git("-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "other");
    await expect(makeCommit(safe, prepared, "late")).rejects.toThrow(/git refused/);
    expect(git("log", "--format=%s")).toBe("other\nfirst\n");
  });
});
