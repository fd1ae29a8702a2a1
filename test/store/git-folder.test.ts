import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it } from "vitest";

import { branchOf } from "../../src/store/git-folder.ts";

function git(cwd: string, ...args: string[]): string {
  const who = ["-c", "user.name=a", "-c", "user.email=a@b"];
  return execFileSync("git", [...who, ...args], { cwd, encoding: "utf8", stdio: "pipe" });
}

it("[TERM-207] reads the branch of a checkout, of a folder in it and of a worktree", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-branch-"));
  expect(await branchOf(folder)).toBeNull();
  git(folder, "init", "-q", "-b", "feature/one");
  expect(await branchOf(folder)).toBe("feature/one");
  git(folder, "commit", "-q", "--allow-empty", "-m", "first");
  mkdirSync(join(folder, "below/deep"), { recursive: true });
  git(folder, "worktree", "add", "-q", "-b", "two", join(folder, "tree"));
  expect(await branchOf(join(folder, "below/deep"))).toBe("feature/one");
  expect(await branchOf(join(folder, "tree"))).toBe("two");
  git(folder, "checkout", "-q", "--detach");
  expect(await branchOf(folder)).toBe(git(folder, "rev-parse", "HEAD").slice(0, 7));
});

it("[TERM-207] takes nothing else for a branch, and waits for no pipe", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-branch-"));
  mkdirSync(join(folder, ".git"));
  const head = join(folder, ".git/HEAD");
  for (const text of ["", "secret", "ref: refs/tags/v1", `ref: refs/heads/${"x".repeat(5000)}`]) {
    writeFileSync(head, text);
    expect(await branchOf(folder)).toBeNull();
  }
  rmSync(head);
  execFileSync("mkfifo", [head]);
  expect(await branchOf(folder)).toBeNull();
});
