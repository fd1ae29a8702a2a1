import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { callViews } from "../../../src/agent/hooks/call-views.ts";
import { createCommands } from "../../../src/agent/commands/commands.ts";
import { type HookAnswer, hookAnswer, type HookEnd } from "../../../src/agent/hooks/hook-answer.ts";
import { HookRunner } from "../../../src/agent/hooks/hook-runner.ts";
import { type Hook, type HookEvent, hooksOf } from "../../../src/rules/hooks/hook.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

type Case = readonly [
  what: string,
  event: HookEvent,
  end: Partial<HookEnd>,
  answer: Partial<HookAnswer>,
];

const json = (value: unknown): Partial<HookEnd> => ({ stdout: JSON.stringify(value) });
const specific = (fields: object): Partial<HookEnd> => json({ hookSpecificOutput: fields });
const wrong = (code: number, stderr = "", stdout = ""): Partial<HookEnd> => ({
  code,
  stderr,
  stdout,
});
const LONG = "x".repeat(10_000);
const NO_REASON = "the hook gives no reason";

const CASES: readonly Case[] = [
  ["nothing", "PreToolUse", {}, {}],
  ["text", "PreToolUse", { stdout: "fine" }, {}],
  ["text", "PostToolUse", { stdout: " fine\n" }, { note: "fine" }],
  ["text", "UserPromptSubmit", { stdout: "it is Friday" }, { note: "it is Friday" }],
  ["text", "SessionStart", { stdout: "branch main" }, { note: "branch main" }],
  ["text", "Stop", { stdout: "done" }, {}],
  ["text", "Notification", { stdout: "rang" }, {}],
  ["text", "SessionEnd", { stdout: "bye" }, {}],
  ["white space", "PostToolUse", { stdout: " \n\t" }, {}],
  ["text of standard error", "PostToolUse", { stderr: "warned" }, {}],
  ["exit code 2", "PreToolUse", wrong(2, "no\n"), { denied: "no" }],
  ["exit code 2", "UserPromptSubmit", wrong(2, "a key is in it"), { denied: "a key is in it" }],
  ["exit code 2", "Stop", wrong(2, "test first"), { denied: "test first" }],
  ["exit code 2", "PostToolUse", wrong(2, "1 error"), { note: "1 error" }],
  ["exit code 2", "Notification", wrong(2, "no"), { error: "no" }],
  ["exit code 2", "SessionStart", wrong(2, "no"), { error: "no" }],
  ["exit code 2", "SessionEnd", wrong(2, "no"), { error: "no" }],
  ["exit code 2 without a reason", "PreToolUse", wrong(2), { denied: NO_REASON }],
  ["exit code 2 with text", "PreToolUse", wrong(2, "", "no"), { denied: NO_REASON }],
  [
    "exit code 2 with JSON that allows",
    "PreToolUse",
    { ...wrong(2, "no"), ...specific({ permissionDecision: "allow" }), code: 2 },
    { denied: "no" },
  ],
  ["exit code 1", "PreToolUse", wrong(1, "Traceback\nline"), { error: "exit code 1: Traceback" }],
  ["exit code 1", "PostToolUse", wrong(1, "", "found"), { error: "exit code 1: found" }],
  ["exit code 1", "UserPromptSubmit", wrong(1), { error: "exit code 1" }],
  ["exit code 3", "Stop", wrong(3, "x"), { error: "exit code 3: x" }],
  ["exit code 127", "PreToolUse", wrong(127, "not found"), { error: "exit code 127: not found" }],
  ["exit code 255", "SessionEnd", wrong(255), { error: "exit code 255" }],
  [
    "exit code 1 with JSON that denies",
    "PreToolUse",
    { ...json({ decision: "block" }), code: 1 },
    { error: 'exit code 1: {"decision":"block"}' },
  ],
  [
    "a signal",
    "PreToolUse",
    { code: null, signal: "SIGSEGV" },
    { error: "it was ended by SIGSEGV" },
  ],
  [
    "a time-out, whatever it printed",
    "PreToolUse",
    { ...json({ decision: "block" }), ended: "it took longer than 1 s" },
    { error: "it took longer than 1 s" },
  ],
  [
    "a time-out",
    "Stop",
    { code: 2, ended: "it took longer than 1 s" },
    { error: "it took longer than 1 s" },
  ],
  [
    "deny",
    "PreToolUse",
    specific({ permissionDecision: "deny", permissionDecisionReason: "not there" }),
    { denied: "not there" },
  ],
  [
    "deny without a reason",
    "PreToolUse",
    specific({ permissionDecision: "deny" }),
    { denied: NO_REASON },
  ],
  ["allow", "PreToolUse", specific({ permissionDecision: "allow" }), {}],
  [
    "ask",
    "PreToolUse",
    specific({ permissionDecision: "ask", permissionDecisionReason: "sure?" }),
    { denied: "a person has to decide about it: sure?" },
  ],
  ["an unknown decision", "PreToolUse", specific({ permissionDecision: "perhaps" }), {}],
  ["approve", "PreToolUse", json({ decision: "approve", reason: "fine" }), {}],
  ["block", "PreToolUse", json({ decision: "block", reason: "no" }), { denied: "no" }],
  ["block", "PostToolUse", json({ decision: "block", reason: "format" }), { note: "format" }],
  ["block", "UserPromptSubmit", json({ decision: "block", reason: "no" }), { denied: "no" }],
  ["block", "Stop", json({ decision: "block", reason: "test" }), { denied: "test" }],
  ["block", "Notification", json({ decision: "block", reason: "no" }), { error: "no" }],
  ["block without a reason", "Stop", json({ decision: "block" }), { denied: NO_REASON }],
  [
    "a reason that is no text",
    "Stop",
    json({ decision: "block", reason: 5 }),
    { denied: NO_REASON },
  ],
  ["another input", "PreToolUse", specific({ updatedInput: { command: "rm" } }), {}],
  [
    "continue: false",
    "PreToolUse",
    json({ continue: false, stopReason: "late" }),
    { denied: "late" },
  ],
  ["continue: false", "UserPromptSubmit", json({ continue: false }), { denied: NO_REASON }],
  [
    "continue: false",
    "PostToolUse",
    json({ continue: false, stopReason: "late" }),
    { note: "late" },
  ],
  ["continue: false and block", "Stop", json({ continue: false, decision: "block" }), {}],
  ["continue: true", "Stop", json({ continue: true }), {}],
  ["a context", "UserPromptSubmit", specific({ additionalContext: "Friday" }), { note: "Friday" }],
  ["a context", "SessionStart", specific({ additionalContext: "main" }), { note: "main" }],
  ["a context", "PreToolUse", specific({ additionalContext: "careful" }), { note: "careful" }],
  [
    "block and a context",
    "PostToolUse",
    json({ decision: "block", reason: "a", hookSpecificOutput: { additionalContext: "b" } }),
    { note: "a\nb" },
  ],
  [
    "deny and a context",
    "PreToolUse",
    specific({ permissionDecision: "deny", permissionDecisionReason: "a", additionalContext: "b" }),
    { denied: "a", note: "b" },
  ],
  ["a message", "PreToolUse", json({ systemMessage: "see\nthe log" }), { message: "see the log" }],
  ["suppressOutput", "PostToolUse", json({ suppressOutput: true }), {}],
  ["fields that nobody knows", "Stop", json({ a: 1, hookSpecificOutput: [] }), {}],
  ["an empty object", "PreToolUse", json({}), {}],
  [
    "half JSON",
    "PreToolUse",
    { stdout: '{"decision": "bl' },
    { error: "its output begins as JSON and is none" },
  ],
  ["half JSON", "PostToolUse", { stdout: "{ a: 1" }, { note: "{ a: 1" }],
  ["a list", "UserPromptSubmit", json([1]), { note: "[1]" }],
  [
    "colours and controls",
    "PostToolUse",
    { stdout: "\u001b[31mred\u001b[0m \u0007bell \u202eback" },
    { note: "red ␇bell <U+202E>back" },
  ],
  ["half a character", "PostToolUse", { stdout: "a\ud800" }, { note: "a\ufffd" }],
  [
    "a long text",
    "PostToolUse",
    { stdout: `${LONG}y` },
    { note: `${LONG}\n… the rest is left out` },
  ],
  [
    "a long reason",
    "PreToolUse",
    wrong(2, `${LONG}y`),
    { denied: `${LONG}\n… the rest is left out` },
  ],
];

describe("[HOOK-4] [HOOK-5] [HOOK-6] [HOOK-7] the end of a hook", () => {
  it.each(CASES)("%s of %s", (_, event, end, answer) => {
    const whole = { code: 0, signal: null, ended: null, stdout: "", stderr: "", ...end };
    const nothing = { denied: null, note: null, message: null, error: null };
    expect(hookAnswer(event, whole)).toEqual({ ...nothing, ...answer });
  });
});

/** Runs hooks without a sandbox, in an empty folder. */
function openRunner(hooks: readonly Hook[], env: Readonly<Record<string, string>> = {}) {
  const cwd = temporaryFolder();
  const notices: string[] = [];
  const conceal = (text: string): string => text.replaceAll("s3cret", "[KEY]");
  const commands = createCommands(
    {
      env: { PATH: process.env["PATH"], HOME: cwd, ...env },
      outputFolder: null,
      maxOutputBytes: 1024 * 1024,
    },
    { session_id: "01", conceal },
  );
  onTestFinished(() => commands.end());
  const runner = new HookRunner({
    hooks,
    session_id: "01",
    cwd,
    commands,
    sandbox: null,
    permissionMode: async () => "default",
    conceal,
    onNotice: (sentence) => notices.push(sentence),
  });
  return { runner, cwd, notices };
}

const pre = (command: string, timeout_ms?: number): readonly Hook[] =>
  hooksOf({
    PreToolUse: [{ command, sandbox: false, ...(timeout_ms === undefined ? {} : { timeout_ms }) }],
  });

const occasion = {
  event: "PreToolUse" as const,
  names: ["Bash"],
  input: () => ({ tool_name: "Bash", tool_input: { command: "ls", big: "y".repeat(300_000) } }),
  signal: undefined,
};

describe("a hook as a process", () => {
  const runs = (command: string, timeout_ms?: number) => {
    const opened = openRunner(pre(command, timeout_ms), { API_KEY: "s3cret", OTHER: "x" });
    return { ...opened, answer: opened.runner.run(occasion) };
  };

  it("[HOOK-3] gets what happened on its standard input", async () => {
    const { answer, cwd } = runs('cat >input.json; printf %s "$CLAUDE_PROJECT_DIR" >folder');
    expect(await answer).toEqual({ denied: null, notes: [] });
    expect(JSON.parse(readFileSync(join(cwd, "input.json"), "utf8"))).toMatchObject({
      session_id: "01",
      transcript_path: "",
      cwd,
      permission_mode: "default",
      hook_event_name: "PreToolUse",
      tool_name: "Bash",
    });
    expect(readFileSync(join(cwd, "folder"), "utf8")).toBe(cwd);
  });

  it("[HOOK-5] denies with exit code 2, without having read its input", async () => {
    const { denied } = await runs("echo 'not s3cret' >&2; exit 2").answer;
    expect(denied?.reason).toBe("not [KEY]");
  });

  it("[HOOK-6] denies nothing with another exit code, and is shown once", async () => {
    const { runner, notices, answer } = runs("echo oops >&2; exit 1");
    expect((await answer).denied).toBeNull();
    await runner.run(occasion);
    expect(notices).toEqual([
      "The hook `echo oops >&2; exit 1` (PreToolUse) failed: exit code 1: oops.",
    ]);
  });

  it.each([
    ["is not there", "/nowhere/hook", /exit code 127/],
    ["is ended by a signal", "kill -SEGV $$", /SIGSEGV/],
    ["prints without end", "yes", /printed too much/],
  ])("[HOOK-6] that %s denies nothing", async (_, command, error) => {
    const { notices, answer } = runs(command);
    expect((await answer).denied).toBeNull();
    expect(notices).toEqual([expect.stringMatching(error)]);
  });

  it("[HOOK-8] is ended after its time, with all that it started", async () => {
    // a loaded machine needs some of it until the shell has begun
    const { notices, answer, cwd } = runs(
      "(sleep 600 & echo $! >child; setsid sleep 600 & echo $! >>child; wait)",
      3000,
    );
    expect((await answer).denied).toBeNull();
    expect(notices).toEqual([expect.stringContaining("took longer than 3 s")]);
    for (const pid of readFileSync(join(cwd, "child"), "utf8").trim().split("\n")) {
      expect(existsSync(`/proc/${pid}/stat`) && !isZombie(pid)).toBe(false);
    }
  });

  it("[HOOK-8] leaves nothing running when it ends", async () => {
    const { answer, cwd } = runs("sleep 600 & echo $! >child");
    await answer;
    const pid = readFileSync(join(cwd, "child"), "utf8").trim();
    expect(existsSync(`/proc/${pid}/stat`) && !isZombie(pid)).toBe(false);
  });

  it("[HOOK-8] ends when the exchange is stopped", async () => {
    const { runner, cwd } = openRunner(pre("touch begun; sleep 600"));
    const stop = new AbortController();
    const answer = runner.run({ ...occasion, signal: stop.signal });
    while (!existsSync(join(cwd, "begun"))) {
      await sleep(5);
    }
    stop.abort(new Error("stopped"));
    await expect(answer).rejects.toThrow("stopped");
  });

  it("[HOOK-9] gets no variable that commands do not get, and no secret", async () => {
    const { runner, cwd } = openRunner(pre("env >env; cat >input.json"), {
      API_KEY: "s3cret",
      OTHER: "x",
    });
    await runner.run({ ...occasion, input: () => ({ prompt: "it is s3cret" }) });
    expect(JSON.parse(readFileSync(join(cwd, "input.json"), "utf8"))).toMatchObject({
      prompt: "it is [KEY]",
    });
    expect(readFileSync(join(cwd, "env"), "utf8")).not.toMatch(/API_KEY|OTHER|s3cret/);
  });

  it("[HOOK-10] does not run without a sandbox unless the user's own config says so", async () => {
    const { runner, notices, cwd } = openRunner(
      hooksOf({ PreToolUse: [{ command: "touch ran" }] }),
    );
    expect((await runner.run(occasion)).denied).toBeNull();
    expect(existsSync(join(cwd, "ran"))).toBe(false);
    expect(notices).toEqual([expect.stringContaining("there is no sandbox for it here")]);
  });

  it("[HOOK-11] runs after those before it, once for each command, until one denies", async () => {
    const line = (name: string) => `echo ${name} >>ran`;
    const { runner, cwd } = openRunner([
      ...pre(line("a")),
      ...pre(line("a")),
      ...pre(`${line("b")}; echo no >&2; exit 2`),
      ...pre(line("c")),
    ]);
    expect((await runner.run(occasion)).denied?.reason).toBe("no");
    expect(readFileSync(join(cwd, "ran"), "utf8")).toBe("a\nb\n");
  });
});

function isZombie(pid: string): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return /\) [ZX]/.test(stat);
}

/** Scripts that do what the examples of Claude Code's documentation do, with the fields that those read. */
const SCRIPTS = {
  "a validator of commands": `
import json, re, sys
data = json.load(sys.stdin)
if data.get("tool_name", "") != "Bash":
    sys.exit(0)
if re.search(r"^grep\\b", data.get("tool_input", {}).get("command", "")):
    print("use rg", file=sys.stderr)
    sys.exit(2)
`,
  "a guard of files": `
import json, sys
path = json.load(sys.stdin)["tool_input"].get("file_path", "")
sys.exit(2 if any(name in path for name in [".env", "package-lock.json", ".git/"]) else 0)
`,
  "a check of messages": `
import json, re, sys
data = json.load(sys.stdin)
if re.search(r"(?i)password", data["prompt"]):
    print(json.dumps({"decision": "block", "reason": "it has a password"}))
else:
    print("Today is Friday")
`,
  "a check before the end": `
import json, sys
data = json.load(sys.stdin)
if not data["stop_hook_active"]:
    print(json.dumps({"decision": "block", "reason": "run the tests"}))
`,
} as const;

const hasPython = spawnSync("python3", ["-V"]).status === 0;

type Script = readonly [
  name: keyof typeof SCRIPTS,
  event: HookEvent,
  input: Readonly<Record<string, unknown>>,
  denied: string | null,
  notes: number,
];

describe.skipIf(!hasPython)("[HOOK-12] a script for Claude Code runs unchanged:", () => {
  it.each<Script>([
    [
      "a validator of commands",
      "PreToolUse",
      seen("run_command", { line: "grep -r x ." }),
      "use rg",
      0,
    ],
    ["a validator of commands", "PreToolUse", seen("run_command", { argv: ["ls"] }), null, 0],
    ["a guard of files", "PreToolUse", seen("write_file", { path: ".env" }), NO_REASON, 0],
    ["a guard of files", "PreToolUse", seen("edit_file", { path: "a.ts" }), null, 0],
    ["a check of messages", "UserPromptSubmit", { prompt: "my Password" }, "it has a password", 0],
    ["a check of messages", "UserPromptSubmit", { prompt: "hello" }, null, 1],
    ["a check before the end", "Stop", { stop_hook_active: false }, "run the tests", 0],
    ["a check before the end", "Stop", { stop_hook_active: true }, null, 0],
  ])("%s at %s of %j", async (name, event, input, denied, notes) => {
    const { runner, cwd } = openRunner(
      hooksOf({ [event]: [{ command: "python3 script.py", sandbox: false }] }),
    );
    writeFileSync(join(cwd, "script.py"), SCRIPTS[name]);
    const given = await runner.run({ event, names: null, input: () => input, signal: undefined });
    expect(given.denied?.reason ?? null).toBe(denied);
    expect(given.notes).toHaveLength(notes);
  });
});

/** What a hook before a call of one of our tools gets. */
function seen(name: string, args: object): Readonly<Record<string, unknown>> {
  const [view] = callViews({ name, args }, "/work");
  return { tool_name: view?.names[1], tool_input: view?.input };
}
