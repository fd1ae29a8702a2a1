import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { type ToolBox, toolBox } from "../../helpers/tool-box.ts";
import { testSize } from "../../helpers/size.ts";

const SECRET = "the secret outside";

/** A repository with every kind of way out of it, and a secret that none may lead to. */
function trappedBox(): ToolBox {
  const box = toolBox({ "inside.txt": "inside", "folder/deep.txt": "deep" });
  const { outside, repo } = box;
  mkdirSync(join(outside, "repo-evil"));
  mkdirSync(join(outside, "home/empty"), { recursive: true });
  writeFileSync(join(outside, "repo-evil/secret.txt"), SECRET);
  writeFileSync(join(outside, "home/secret.txt"), SECRET);
  symlinkSync(join(outside, "home"), join(repo, "linked-folder"));
  symlinkSync(join(outside, "home/secret.txt"), join(repo, "linked.txt"));
  symlinkSync("../home/secret.txt", join(repo, "folder/climbing.txt"));
  symlinkSync("linked-folder", join(repo, "chained"));
  symlinkSync(join(outside, "home/not-there.txt"), join(repo, "dangling.txt"));
  symlinkSync(join(outside, "home/no-folder"), join(repo, "dangling-folder"));
  symlinkSync("loop", join(repo, "loop"));
  symlinkSync("..", join(repo, "up"));
  return box;
}

const WAYS_OUT = [
  "../home/secret.txt",
  "folder/../../home/secret.txt",
  "folder/../inside.txt",
  "..",
  "linked.txt",
  "linked-folder/secret.txt",
  "linked-folder/new/deeper/file.txt",
  "linked-folder/../inside.txt",
  "folder/climbing.txt",
  "chained/secret.txt",
  "chained/new.txt",
  "dangling.txt",
  "dangling-folder/new.txt",
  "loop",
  "loop/new.txt",
  "up/home/secret.txt",
  "up/repo-evil/secret.txt",
  "inside.txt\0.png",
  "\0",
  "x".repeat(5000),
  "inside.txt/below",
];

function calls(path: string): [string, object][] {
  return [
    ["read_file", { path }],
    ["list_files", { path }],
    ["find_files", { pattern: "**", path }],
    ["search_files", { text: "secret", path }],
    ["write_file", { path, content: "written" }],
    ["edit_file", { path, old_text: "secret", new_text: "changed" }],
  ];
}

function expectNothingOutside({ outside }: ToolBox): void {
  expect(readdirSync(outside).sort()).toEqual(["home", "repo", "repo-evil"]);
  expect(readdirSync(join(outside, "home")).sort()).toEqual(["empty", "secret.txt"]);
  expect(readdirSync(join(outside, "home/empty"))).toEqual([]);
  expect(readdirSync(join(outside, "repo-evil"))).toEqual(["secret.txt"]);
  expect(readFileSync(join(outside, "home/secret.txt"), "utf8")).toBe(SECRET);
  expect(readFileSync(join(outside, "repo-evil/secret.txt"), "utf8")).toBe(SECRET);
}

describe("the boundary of the repository", () => {
  it.each(WAYS_OUT)("refuses %j to every tool", async (path) => {
    const box = trappedBox();
    for (const [name, args] of calls(path)) {
      expect(`${name} ${await box.call(name, args)}`).toMatch(/^\w+ Error: /);
    }
    expectNothingOutside(box);
  });

  it("refuses absolute paths outside, and a sibling with the same beginning", async () => {
    const box = trappedBox();
    const { outside, repo } = box;
    const paths = [
      join(outside, "home/secret.txt"),
      `${repo}-evil/secret.txt`,
      `${repo}/../home/secret.txt`,
      "/etc/passwd",
      "/",
      outside,
    ];
    for (const path of paths) {
      for (const [name, args] of calls(path)) {
        expect(`${name} ${await box.call(name, args)}`).toMatch(/^\w+ Error: /);
      }
    }
    expectNothingOutside(box);
  });

  it.each(["../**", "/../**", "{..,x}/**", "folder/../../**", "**/../../home/*"])(
    "gives nothing outside for the glob %j",
    async (pattern) => {
      const box = trappedBox();
      expect(await box.call("find_files", { pattern })).toMatch(/^Error: |no file matches/);
      expect(await box.call("search_files", { text: "secret", files: pattern })).not.toContain(
        "the secret",
      );
    },
  );

  it("does not follow links when it finds and searches", async () => {
    const box = trappedBox();
    expect(await box.call("find_files", { pattern: "**" })).toBe("inside.txt\nfolder/deep.txt");
    expect(await box.call("search_files", { text: "secret" })).toBe("(no line holds this text)");
  });

  it("follows links that stay inside, and takes names with dots", async () => {
    const box = trappedBox();
    symlinkSync("folder", join(box.repo, "alias"));
    writeFileSync(join(box.repo, "a..b"), "dots");
    expect(await box.call("read_file", { path: "alias/deep.txt" })).toBe("1\tdeep");
    expect(await box.call("read_file", { path: "./a..b" })).toBe("1\tdots");
    expect(await box.call("read_file", { path: join(box.repo, "inside.txt") })).toBe("1\tinside");
    expect(await box.call("write_file", { path: "alias/new/file.txt", content: "x" })).toBe(
      "created folder/new/file.txt (1 bytes)",
    );
  });

  it("reads no pipe, which would never end", async () => {
    const box = toolBox();
    execFileSync("mkfifo", [join(box.repo, "pipe")]);
    for (const [name, args] of calls("pipe")) {
      expect(`${name} ${await box.call(name, args)}`).toMatch(/^\w+ (?:Error: |\(no )/);
    }
  });

  it("holds for any path", async () => {
    const box = trappedBox();
    const part = fc.constantFrom(
      "..",
      ".",
      "",
      "linked-folder",
      "linked.txt",
      "chained",
      "up",
      "loop",
      "dangling.txt",
      "dangling-folder",
      "home",
      "repo-evil",
      "secret.txt",
      "folder",
      "climbing.txt",
      "new",
    );
    const path = fc.array(part, { maxLength: 6 }).map((parts) => parts.join("/"));
    await fc.assert(
      fc.asyncProperty(path, fc.boolean(), async (path, absolute) => {
        const full = absolute ? `${box.repo}/${path}` : path;
        for (const [name, args] of calls(full)) {
          expect(await box.call(name, args)).not.toContain(SECRET);
        }
        expectNothingOutside(box);
      }),
      { numRuns: testSize("texts") },
    );
  });
});

describe("protected paths", () => {
  it("are refused under every name, with their companion files", async () => {
    const box = toolBox(
      {
        "data/reprise.db": "rows secret",
        "data/reprise.db-wal": "rows secret",
        "own/personas/x.md": "secret",
      },
      (outside) => [join(outside, "repo/data/reprise.db"), join(outside, "repo/own/personas")],
    );
    linkSync(join(box.repo, "data/reprise.db"), join(box.repo, "hard.txt"));
    symlinkSync("data", join(box.repo, "soft"));
    const paths = [
      "data/reprise.db",
      "data/reprise.db-wal",
      "data/reprise.db-shm",
      "soft/reprise.db",
      "hard.txt",
      "own/personas",
      "own/personas/x.md",
      "own/personas/new.md",
    ];
    for (const path of paths) {
      for (const [name, args] of calls(path)) {
        expect(`${name} ${await box.call(name, args)}`).toMatch(/^\w+ Error: /);
      }
    }
    expect(await box.call("find_files", { pattern: "**" })).toBe("(no file matches)");
    expect(await box.call("search_files", { text: "secret" })).toBe("(no line holds this text)");
    expect(await box.call("write_file", { path: "data/other.txt", content: "" })).toMatch(
      /^created/,
    );
  });

  it.each([".git/config", ".git/hooks/pre-commit", "sub/.git/config", ".GIT/config"])(
    "%s is git's own",
    async (path) => {
      const box = toolBox({ ".git/config": "secret", "sub/.git/config": "secret" });
      for (const [name, args] of calls(path)) {
        expect(`${name} ${await box.call(name, args)}`).toMatch(/^\w+ Error: /);
      }
      expect(existsSync(join(box.repo, ".git/hooks"))).toBe(false);
    },
  );

  it.each([".reprise/personas/x.md", ".claude/agents/x.md", ".agents/agents/x.md"])(
    "%s is read but not written",
    async (path) => {
      const box = toolBox({ [path]: "prompt" });
      expect(await box.call("read_file", { path })).toBe("1\tprompt");
      expect(await box.call("write_file", { path, content: "" })).toMatch(/^Error: /);
      expect(await box.call("edit_file", { path, old_text: "p", new_text: "q" })).toMatch(
        /^Error: /,
      );
    },
  );
});

describe("a session's folder that is gone", () => {
  it.each([
    ["gone", () => {}],
    ["a file now", (repo: string) => writeFileSync(repo, "")],
  ])("[TOOL-24] is named by every tool, and nothing is made: %s", async (_, replace) => {
    const box = toolBox({ "inside.txt": "inside" });
    renameSync(box.repo, join(box.outside, "away"));
    replace(box.repo);
    const before = readdirSync(box.outside, { recursive: true });
    for (const [name, args] of [
      ["read_file", { path: "inside.txt" }],
      ["list_files", {}],
      ["find_files", { pattern: "*" }],
      ["search_files", { text: "inside" }],
      ["write_file", { path: "new.txt", content: "text" }],
      ["write_file", { path: `${box.repo}/new.txt`, content: "text" }],
      ["edit_file", { path: "inside.txt", old_text: "inside", new_text: "text" }],
    ] as const) {
      expect(await box.call(name, args)).toMatch(
        /^Error: the session's folder no longer exists, .*; ask the user to restore it,/,
      );
    }
    expect(readdirSync(box.outside, { recursive: true })).toEqual(before);
  });
});
