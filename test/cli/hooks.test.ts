import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { createSandboxProbe } from "../../src/workspace/sandbox/probe.ts";
import { startModelServer } from "../helpers/model-server.ts";
import { freshHome, type Home } from "../helpers/reprise.ts";
import { sessionsOf } from "../helpers/sessions/seed.ts";

const { bubblewrap } = await createSandboxProbe()();

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o600 });
}

const configure = (home: Home, config: unknown): void =>
  write(join(home.home, ".config/reprise/config.jsonc"), JSON.stringify(config));

/** A model that writes `a.txt`, and repeats the result. */
async function writing(): Promise<Home> {
  const server = await startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      return last?.role === "user"
        ? { toolCalls: [{ name: "write_file", arguments: '{"path":"a.txt","content":"a"}' }] }
        : { content: `it is: ${last?.content}` };
    },
  });
  return freshHome({ ...server.env("openai"), REPRISE_MODEL: "openai:test" });
}

const REPOSITORY = {
  hooks: { PreToolUse: [{ match: "Write", command: "echo not here >&2; exit 2" }] },
};

describe("hooks of a repository", () => {
  it.skipIf(bubblewrap === null)(
    "[HOOK-28] [HOOK-29] [HOOK-30] run only after trust, which shows them, and never as others than were shown",
    async () => {
      const home = await writing();
      const file = join(home.project, ".reprise/config.jsonc");
      const ask = async () => (await home.call(["-p", "go", "--permission", "edits"])).stdout;
      write(file, JSON.stringify(REPOSITORY));
      expect(await ask()).toContain("created a.txt");
      // trust of other files says nothing of hooks
      write(file, "{}");
      expect(await home.call(["trust", "add"])).toMatchObject({ code: 0 });
      write(file, JSON.stringify(REPOSITORY));
      const unseen = await home.call(["-p", "go", "--permission", "edits"]);
      expect(unseen.stdout).not.toContain("denied");
      expect(unseen.stderr).toContain("has hooks that you have not seen");
      expect((await home.call(["doctor"])).stdout).toContain("has hooks that you have not seen");
      const added = await home.call(["trust", "add"]);
      expect(added.stdout).toContain("hook     PreToolUse Write: echo not here >&2; exit 2");
      expect(await ask()).toContain("denied by the hook");
      write(file, JSON.stringify(REPOSITORY).replace("not here", "no"));
      expect(await ask()).not.toContain("denied");
      expect(await home.call(["-p", "go", "--permission", "edits", "--trust"])).toMatchObject({
        stdout: expect.stringContaining("(PreToolUse): no"),
      });
    },
  );

  it("[HOOK-31] cannot leave the sandbox", async () => {
    const home = await writing();
    const hook = { match: "Write", command: "touch outside", sandbox: false };
    write(
      join(home.project, ".reprise/config.jsonc"),
      JSON.stringify({ hooks: { PreToolUse: [hook] } }),
    );
    const { stderr } = await home.call(["-p", "go", "--permission", "edits", "--trust"]);
    expect(stderr).toContain("There is no such key here; the keys are match, command, timeout_ms");
  });
});

describe("hooks of the user", () => {
  it("[HOOK-22] [HOOK-26] deny a message with exit code 8, and run when -p ends", async () => {
    const home = await writing();
    const log = { sandbox: false, command: "cat >>../ended.json" };
    const deny = { sandbox: false, command: "grep -q secret && { echo no >&2; exit 2; }; exit 0" };
    configure(home, {
      hooks: { UserPromptSubmit: [deny], SessionEnd: [{ ...log, command: "cat >ended.json" }] },
    });
    const denied = await home.call(["-p", "a secret"]);
    expect(denied).toMatchObject({ code: 8, stdout: "" });
    expect(denied.stderr).toContain("denied the message, which is not stored: no");
    expect(existsSync(join(home.project, "ended.json"))).toBe(false);
    expect(await home.call(["-p", "go", "--permission", "edits"])).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(join(home.project, "ended.json"), "utf8"))).toMatchObject({
      hook_event_name: "SessionEnd",
      reason: "other",
    });
    // over HTTP and by `sessions end` none runs
    const [session] = await sessionsOf(home);
    writeFileSync(join(home.project, "ended.json"), "");
    await home.call(["sessions", "end", session?.id ?? ""]);
    expect(readFileSync(join(home.project, "ended.json"), "utf8")).toBe("");
  });

  it("[HOOK-13] [HOOK-32] deny a call with exit code 8; permission explain lists them and runs none", async () => {
    const home = await writing();
    const hook = { match: "Write|Edit", command: "touch ran; exit 2", sandbox: false };
    configure(home, {
      hooks: { PreToolUse: [hook], PostToolUse: [{ command: "lint" }], Stop: [{ command: "no" }] },
    });
    const explained = await home.call(["permission", "explain", "write_file(a.txt)"]);
    expect(explained.stdout.split("\n").slice(1)).toEqual([
      "hook: PreToolUse Write|Edit: touch ran; exit 2 (without a sandbox)",
      "hook: PostToolUse: lint",
      "",
    ]);
    const json = await home.call(["permission", "explain", "--json", "run_command(ls)"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ hooks: ["PostToolUse: lint"] });
    expect(existsSync(join(home.project, "ran"))).toBe(false);
    const denied = await home.call(["-p", "go", "--permission", "edits"]);
    expect(denied).toMatchObject({ code: 8 });
    expect(denied.stdout).toContain("denied by the hook `touch ran; exit 2` (PreToolUse)");
    expect(existsSync(join(home.project, "ran"))).toBe(true);
  });

  it("[HOOK-1] [HOOK-33] are checked with the config: events, matches and commands", async () => {
    const home = await writing();
    const check = async (hooks: unknown): Promise<string> => {
      configure(home, { hooks });
      const { stdout, stderr } = await home.call(["config", "check"]);
      return `${stdout}${stderr}`;
    };
    expect(await check({ PreToolUes: [] })).toContain("There is no such key here; did you mean");
    expect(await check({ PreToolUse: [{ command: "x", match: "(" }] })).toContain(
      "This is not a regular expression.",
    );
    expect(await check({ PreToolUse: [{ match: "*" }] })).toContain("This needs the key command.");
    expect(await check({ PreToolUse: [{ command: "x", timeout_ms: 0 }] })).toContain("1 or more");
    expect(await check({ PreToolUse: [{ command: "x", timeout_ms: 600_001 }] })).toContain("less");
    expect(await check({ Stop: [{ command: "x" }] })).not.toContain("1:");
    expect((await home.call(["doctor"])).stdout).toContain("hooks.Stop is");
    const set = ["config", "set", "hooks.PreToolUse", '[{"command":"y"}]'];
    expect(await home.call(set)).toMatchObject({ code: 0 });
    expect((await home.call(["config", "get"])).stdout).toMatch(
      /hooks\.PreToolUse +\["PreToolUse: y"\] +config/,
    );
  });
});
