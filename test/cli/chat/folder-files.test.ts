import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { createFolderFiles } from "../../../src/cli/chat/folder-files.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

async function pathsOf(folder: string | null): Promise<readonly string[]> {
  let isThere = false;
  const files = createFolderFiles({ folder, changed: () => (isThere = true) });
  expect(files.paths()).toEqual([]);
  await expect.poll(() => isThere).toBe(true);
  expect(files.version()).toBe(1);
  return files.paths();
}

function folderWith(names: readonly string[]): string {
  const folder = temporaryFolder();
  for (const name of names) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
  return folder;
}

describe("[TERM-37] the files of a folder", () => {
  it("are those that git does not ignore, and run nothing that its configuration names", async () => {
    const folder = folderWith([
      "src/a.ts",
      "src/deep/b.ts",
      "dist/out.js",
      "node_modules/x/i.js",
      "secret.log",
      "src/kept.log",
      ".github/ci.yml",
    ]);
    writeFileSync(join(folder, ".gitignore"), "dist/\n*.log\n");
    writeFileSync(join(folder, "src/.gitignore"), "!kept.log\n");
    execFileSync("git", ["init", "-q", folder]);
    const evil = join(folder, "evil.sh");
    writeFileSync(evil, `#!/bin/sh\ntouch '${folder}/ran'\n`, { mode: 0o700 });
    execFileSync("git", ["-C", folder, "config", "core.fsmonitor", evil]);
    expect(await pathsOf(folder)).toEqual([
      ".github/",
      ".gitignore",
      "evil.sh",
      "src/",
      ".github/ci.yml",
      "src/.gitignore",
      "src/a.ts",
      "src/deep/",
      "src/kept.log",
      "src/deep/b.ts",
    ]);
  });

  it("are not those beyond a link, nor names that a terminal does not show", async () => {
    const outside = folderWith(["passwords.txt"]);
    const folder = folderWith([
      "a b.txt",
      'q".txt',
      "esc\u001b[2J.txt",
      "bidi\u202e.txt",
      "nl\n.txt",
    ]);
    symlinkSync(outside, join(folder, "link"));
    symlinkSync(join(outside, "passwords.txt"), join(folder, "file"));
    expect(await pathsOf(folder)).toEqual(["a b.txt"]);
  });

  it("are read again once they are old, and are none without a folder", () => {
    expect(createFolderFiles({ folder: null, changed: () => undefined }).paths()).toEqual([]);
  });
});
