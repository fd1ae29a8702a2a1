import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { projectTop } from "../../../src/rules/trust/project-top.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

function folder(...parts: string[]): string {
  const path = join(...parts);
  mkdirSync(path, { recursive: true });
  return path;
}

function file(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** A main checkout with a worktree beside it, as `git worktree add` lays them out. */
function checkouts() {
  const root = temporaryFolder();
  const main = folder(root, "main");
  const worktree = folder(root, "worktree");
  const own = join(main, ".git/worktrees/worktree");
  file(join(main, ".git/HEAD"), "ref: refs/heads/main\n");
  file(join(worktree, ".git"), `gitdir: ${own}\n`);
  file(join(own, "commondir"), "../..\n");
  file(join(own, "gitdir"), `${join(worktree, ".git")}\n`);
  return { root, main, worktree, own };
}

describe("the folder that a trust decision applies to", () => {
  it("[TRUST-2] is the git top level by its real path, else the folder itself", async () => {
    const { root, main } = checkouts();
    const below = folder(main, "src/deep");
    symlinkSync(below, join(root, "link"));
    expect(await projectTop(below, null)).toBe(main);
    expect(await projectTop(join(root, "link"), null)).toBe(main);
    expect(await projectTop(folder(root, "plain/sub"), null)).toBe(join(root, "plain/sub"));
    expect(await projectTop(join(root, "not/there"), null)).toBe(join(root, "not/there"));
  });

  it("[TRUST-2] [TRUST-26] is the main checkout of a worktree if both point at each other, as git makes them", async () => {
    const { main, worktree } = checkouts();
    expect(await projectTop(folder(worktree, "src"), null)).toBe(main);

    const root = temporaryFolder();
    const git = (...args: string[]): unknown =>
      execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.org", ...args], {
        cwd: folder(root, "real"),
        stdio: "ignore",
      });
    git("init");
    git("commit", "--allow-empty", "-m", "first");
    git("worktree", "add", "../other");
    expect(await projectTop(join(root, "other"), null)).toBe(join(root, "real"));
  });

  it("[TRUST-2] is the worktree itself if only it points, so that nobody borrows a trusted project", async () => {
    const { root, main, own, worktree } = checkouts();
    const evil = folder(root, "evil");
    for (const pointer of [own, join(main, ".git"), "/", "../main/.git/worktrees/worktree"]) {
      file(join(evil, ".git"), `gitdir: ${pointer}\n`);
      expect(await projectTop(evil, null)).toBe(evil);
    }
    // a pretended administration that names itself
    file(join(evil, ".git"), "gitdir: fake/worktrees/x\n");
    file(join(evil, "fake/worktrees/x/commondir"), `${join(main, ".git")}\n`);
    file(join(evil, "fake/worktrees/x/gitdir"), `${join(evil, ".git")}\n`);
    expect(await projectTop(evil, null)).toBe(evil);
    file(join(worktree, ".git"), "x".repeat(5000));
    expect(await projectTop(worktree, null)).toBe(worktree);
  });

  it("[TRUST-2] [TRUST-27] is never the home folder or one above it, though they are git repositories", async () => {
    const root = temporaryFolder();
    const home = folder(root, "home/ada");
    for (const at of [root, join(root, "home"), home]) {
      folder(at, ".git");
    }
    const download = folder(home, "downloads/x");
    expect(await projectTop(download, home)).toBe(download);
    expect(await projectTop(home, home)).toBe(home);
  });
});
