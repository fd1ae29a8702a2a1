import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { join, relative } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { controlFileIn } from "../../../src/core/files/control-files.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { attackScript, STEPS } from "./attacks.ts";
import {
  KINDS,
  type MadeSetUp,
  makeSetUp,
  PLACES,
  type SetUp,
  SPELLINGS,
  USER,
} from "./git-set-ups.ts";
import { sandboxHome } from "./run-confined.ts";

const sandbox = await sandboxHome();
afterAll(() => sandbox[Symbol.dispose]());

describe.skipIf(sandbox.reason !== null)("what a command leaves behind in a repository", () => {
  const { home, run } = sandbox;
  const seed = seedOf("escapes");
  let worlds = 0;

  /** Runs commands one after the other, works with git as the user would, and reports what came of it. */
  async function attack(setUp: SetUp, lines: (made: MadeSetUp) => readonly string[]) {
    worlds += 1;
    const own = join(home, `home${worlds}`);
    mkdirSync(own);
    const made = makeSetUp(own, setUp);
    const before = userFiles(made.folder);
    const notes: string[] = [];
    const refused: string[] = [];
    for (const line of lines(made)) {
      try {
        const options = { env: { HOME: own }, at: made.folder, state: join(own, "state") };
        const ran = await run(line.replaceAll("$MARKER", own), options);
        notes.push(...ran.notes);
      } catch (error) {
        refused.push(error instanceof Error ? error.message : String(error));
      }
    }
    const after = userFiles(made.folder);
    useGit(own, made);
    const moved = join(own, "state/sandbox/moved");
    const result = {
      executed: existsSync(join(own, "EXECUTED")),
      lost: before.length - after.length,
      moved: existsSync(moved) ? userFiles(moved) : [],
    };
    execFileSync("chmod", ["-R", "u+rwx", own]);
    rmSync(own, { recursive: true, force: true });
    return { result, notes, refused };
  }

  const HELD = { executed: false, lost: 0, moved: [] };

  const SET_UPS: readonly (readonly [string, SetUp])[] = [
    ["hooks in the plain spelling", { place: "top", spelling: "plain", kind: "hooks" }],
    ["hooks of an included file", { place: "top", spelling: "include", kind: "hooks" }],
    ["hooks with a comment", { place: "top", spelling: "comment", kind: "hooks" }],
    ["hooks in quotes", { place: "top", spelling: "quoted", kind: "hooks" }],
    ["hooks on one line", { place: "top", spelling: "one line", kind: "hooks" }],
    ["hooks on two lines", { place: "top", spelling: "continuation", kind: "hooks" }],
    ["hooks of a worktree", { place: "worktree", spelling: "plain", kind: "hooks" }],
    ["hooks in a folder of the repository", { place: "sub", spelling: "plain", kind: "hooks" }],
    ["hooks of the user", { place: "top", spelling: "global", kind: "hooks" }],
    ["hooks that are not there yet", { place: "top", spelling: "plain", kind: "new hooks" }],
    ["a monitor", { place: "top", spelling: "plain", kind: "fsmonitor" }],
    [
      "a filter, and the attributes that name it",
      { place: "top", spelling: "plain", kind: "filter" },
    ],
  ];

  it.each(SET_UPS.slice(0, testSize("git-set-ups")))(
    "[SANDBOX-32] git runs nothing that a command wrote: %s",
    async (_, setUp) => {
      const { result } = await attack(setUp, ({ folder, targets }) => [
        attackScript("$MARKER", targets, []).replaceAll("$FOLDER", folder),
      ]);
      expect(result).toEqual(HELD);
    },
  );

  it.each([
    ["the folder itself", "chmod 311 ."],
    ["a folder with a repository", "chmod 311 nested"],
    ["a folder with a repository, for everything", "chmod 000 nested; chmod 000 ."],
    ["a new one", "mkdir new; touch new/.envrc; chmod 311 new"],
  ])("[SANDBOX-33] a command that takes the right to list %s", async (_, line) => {
    const plain: SetUp = { place: "top", spelling: "plain", kind: "hooks" };
    const { result, refused } = await attack(plain, ({ targets }) => [
      line,
      attackScript("$MARKER", targets, STEPS.slice(0, 3)),
      "chmod 755 . nested",
      "true",
    ]);
    expect(result).toEqual(HELD);
    expect(refused).toEqual([]);
  });

  it("[SANDBOX-35] ends a command that makes too many files, and searches all of them", async () => {
    const line =
      "mkdir aaa zzz; touch zzz/.envrc; seq -f 'aaa/%.0f' 4000 | xargs touch; sleep 30; touch late";
    const { ended, notes, code } = await run(line, { limits: { files: 2000 } });
    expect(ended).toContain("more than 2000 files");
    expect(code).not.toBe(0);
    expect(notes.join()).toContain("zzz/.envrc");
  });

  it(
    "[SANDBOX-34] random set-ups and attacks: nothing runs, and nothing of the user's is moved",
    { timeout: 3_600_000 },
    async () => {
      for (let at = 0; at < testSize("escapes"); at += 1) {
        const random = randomOf(seed + at);
        const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
        const setUp = { place: pick(PLACES), spelling: pick(SPELLINGS), kind: pick(KINDS) };
        const rounds = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
          Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(STEPS)),
        );
        const {
          result: { executed, moved },
        } = await attack(setUp, ({ targets }) =>
          rounds.map((steps) => attackScript("$MARKER", targets, steps)),
        );
        // an attack may delete what is ordinary: also hooks, once their folder was renamed
        expect(
          { executed, moved },
          JSON.stringify({ seed: seed + at, setUp, rounds }, null, 1),
        ).toEqual({ executed: false, moved: [] });
      }
    },
  );
});

/** What a user, the prompt of a shell and the search of an editor do in a folder. */
function useGit(home: string, { folder, top }: MadeSetUp): void {
  const quietly = (at: string, program: string, ...args: string[]): void => {
    const env = {
      HOME: home,
      PATH: process.env["PATH"] ?? "",
      GIT_TERMINAL_PROMPT: "0",
      GIT_CEILING_DIRECTORIES: home,
    };
    try {
      execFileSync(program, args, { cwd: at, env, stdio: "ignore", timeout: 60_000 });
    } catch {
      // where there is no repository, or the hook of the user refuses
    }
  };
  for (const at of new Set([folder, top, ...foldersBelow(folder)])) {
    quietly(at, "git", "status");
    const path = join(at, ".envrc");
    if (existsSync(path) && !readFileSync(path, "utf8").includes(USER)) {
      quietly(at, "touch", join(home, "EXECUTED"));
    }
  }
  for (const at of [top, folder]) {
    try {
      appendFileSync(join(at, "file"), "more\n");
    } catch {
      // it was renamed
    }
    quietly(at, "git", "diff");
    quietly(at, "git", "commit", "-qam", "by the user");
    quietly(at, "git", "commit", "-q", "--allow-empty");
    quietly(at, "git", "x");
    quietly(at, "git", "checkout", "-q", "-b", "other");
  }
}

/** Those whose names the user can find out; he may be able to enter them although he cannot list them. */
function foldersBelow(top: string): string[] {
  const found: string[] = [];
  const folders = [top];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (controlFileIn(relative(top, folder).split("/")) === null) {
      found.push(folder);
    }
    try {
      for (const entry of list(folder)) {
        const path = join(folder, entry.name);
        if (entry.isDirectory() && !entry.name.includes("\uFFFD") && path.length < 2000) {
          folders.push(path);
        }
      }
    } catch {
      // it cannot be listed
    }
  }
  return found;
}

/** The user's own files below a folder. */
function userFiles(top: string): string[] {
  const found: string[] = [];
  const folders = [top];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let entries: ReturnType<typeof list> = [];
    try {
      entries = list(folder);
    } catch {
      // it cannot be listed
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && path.length < 3000) {
        folders.push(path);
      } else if (
        entry.isFile() &&
        lstatSync(path).size < 10_000 &&
        readFileSync(path, "utf8").includes(USER)
      ) {
        found.push(path);
      }
    }
  }
  return found;
}

function list(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}
