import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { repositoryName } from "../../src/store/git-remote.ts";
import { projectIdOf } from "../../src/store/project-id.ts";

const ID = /^[0-9a-f]{16}$/;

function git(cwd: string, ...args: string[]): string {
  const who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
  return execFileSync("git", [...who, ...args], { cwd, encoding: "utf8", stdio: "pipe" });
}

function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), "reprise-project-"));
}

function repository(): string {
  const folder = freshFolder();
  git(folder, "init", "-q");
  git(folder, "commit", "-q", "--allow-empty", "-m", `first of ${folder}`);
  return folder;
}

describe("the id of a repository", () => {
  it("[PROJECT-1] is the same for folders, worktrees and clones without a remote elsewhere", async () => {
    const main = repository();
    const id = await projectIdOf(main);
    expect(id).toMatch(ID);
    const beside = freshFolder();
    git(main, "worktree", "add", "-q", join(beside, "tree"));
    git(main, "clone", "-q", main, join(beside, "clone"));
    mkdirSync(join(main, "below/deep"), { recursive: true });
    symlinkSync(main, join(beside, "link"));
    git(main, "commit", "-q", "--allow-empty", "-m", "second");
    for (const folder of ["tree", "clone", "link"]) {
      expect([folder, await projectIdOf(join(beside, folder))]).toEqual([folder, id]);
    }
    expect(await projectIdOf(join(main, "below/deep"))).toBe(id);
    expect(await projectIdOf(repository())).not.toBe(id);
  });

  it("[PROJECT-1] is that of the remote, however it is reached", async () => {
    const [one, two] = [freshFolder(), repository()];
    git(one, "init", "-q");
    expect(await projectIdOf(one)).toBeNull();
    git(one, "remote", "add", "origin", "git@Example.com:ada/tool.git");
    const id = await projectIdOf(one);
    expect(id).toMatch(ID);
    git(two, "remote", "add", "fork", "https://example.com/bob/tool");
    git(two, "remote", "add", "origin", "https://me:secret@example.com/ada/tool/");
    expect(await projectIdOf(two)).toBe(id);
    expect(await projectIdOf(freshFolder())).toBeNull();
  });

  it.each([
    ["ssh://git@example.com:2222/ada/tool.git", "example.com/ada/tool"],
    ["https://example.com:443/ada/tool", "example.com/ada/tool"],
    ["https://example.com:3000/ada/tool", "example.com:3000/ada/tool"],
    ["example.com:ada/tool.git/", "example.com/ada/tool"],
    ["git@[::1]:ada/tool", "[::1]/ada/tool"],
    ["/srv/git/tool.git", null],
    ["../tool", null],
    ["C:/tool", null],
    ["file:///srv/git/tool", null],
    ["ext::sh -c date", null],
    ["ext::date", null],
    ["https://", null],
  ])("[PROJECT-1] %s names %s", (url, name) => {
    expect(repositoryName(url)).toBe(name);
  });

  it("[PROJECT-2] executes nothing that a repository names, and reads no pipe", async () => {
    const folder = repository();
    const mark = join(folder, "mark");
    const program = join(folder, "program");
    writeFileSync(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    const commands = ["core.fsmonitor", "core.pager", "core.sshCommand", "core.gitProxy"];
    for (const key of [...commands, "pager.rev-list", "log.showSignature", "gpg.program"]) {
      git(folder, "config", key, program);
    }
    for (const hook of ["post-index-change", "reference-transaction", "pre-auto-gc"]) {
      writeFileSync(join(folder, ".git/hooks", hook), `#!/bin/sh\ntouch ${mark}\n`, {
        mode: 0o755,
      });
    }
    expect(await projectIdOf(folder)).toMatch(ID);
    git(folder, "config", "remote.origin.url", `ext::${program}`);
    git(folder, "config", "remote.origin.promisor", "true");
    writeFileSync(join(folder, ".git/HEAD"), `${"1".repeat(40)}\n`);
    expect(await projectIdOf(folder)).toBeNull();
    execFileSync("rm", [join(folder, ".git/config")]);
    execFileSync("mkfifo", [join(folder, ".git/config")]);
    expect(await projectIdOf(folder)).toBeNull();
    expect(existsSync(mark)).toBe(false);
  });
});
