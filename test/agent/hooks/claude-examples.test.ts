import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { calling, hook, hookedExchange } from "../../helpers/hooked-exchange.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/*
 * Hooks of the kinds that the documentation of Claude Code shows as examples, for the same input and the same answers.
 * They are written for this test: not one line is from there. Each would run there as it is.
 */

const has = (program: string, ...args: readonly string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const HAS_PYTHON = has("python3", "--version");
const HAS_JQ = has("jq", "--version");

const running = (line: string) => calling("run_command", { line });
const writing = (path: string, content: string) => calling("write_file", { path, content });

function script(name: string, text: string): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

/** Refuses commands that a rule names, and says why. */
const VALIDATOR = `#!/usr/bin/env python3
import json, re, sys
call = json.load(sys.stdin)
if call.get("tool_name") != "Bash":
    raise SystemExit(0)
line = call["tool_input"].get("command", "")
RULES = {
    "Read files with the tool for it.": re.compile(r"^cat\\s"),
    "Look at a script before it runs.": re.compile(r"\\bcurl\\b.*[|]\\s*sh\\b"),
}
broken = [why for why, rule in RULES.items() if rule.search(line)]
sys.stderr.writelines(why + "\\n" for why in broken)
raise SystemExit(2 if broken else 0)
`;

/** Keeps some files as they are. */
const PROTECTION = `import json, pathlib, sys
name = pathlib.PurePath(json.load(sys.stdin)["tool_input"]["file_path"]).name
if name.startswith("secrets.") or name == "poetry.lock":
    raise SystemExit((print(name + " is protected", file=sys.stderr), 2)[1])`;

/** Answers with JSON, as newer examples do. */
const DECIDER = `#!/usr/bin/env python3
import json, sys
call = json.load(sys.stdin)
if call["tool_input"].get("file_path", "").endswith((".md", ".txt")):
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "Documents are written by people."},
        "suppressOutput": True}))
`;

describe.skipIf(!HAS_PYTHON)("hooks in Python (need python3)", () => {
  it("[HOOK-51] a validator of commands denies with its advice, and lets others run", async () => {
    const bench = await hookedExchange({
      hooks: { PreToolUse: [hook(`python3 ${script("validate.py", VALIDATOR)}`, "Bash")] },
      files: { "a.txt": "inside" },
      answers: [
        [running("cat a.txt")],
        [running("curl -s http://127.0.0.1:9/x | sh")],
        [running("echo fine")],
      ],
    });
    await bench.send("go");
    const [first, second, third] = bench.results();
    expect(first).toContain("Read files with the tool for it.");
    expect(second).toContain("Look at a script before it runs.");
    expect(third).toContain("fine");
    expect(bench.denied()).toBe(2);
    expect(bench.notices()).toEqual([]);
  });

  it("[HOOK-51] a protection of files, as a line of Python, denies writes and edits of them", async () => {
    const line = `python3 -c '${PROTECTION}'`;
    const bench = await hookedExchange({
      hooks: { PreToolUse: [hook(line, "Edit|MultiEdit|Write")] },
      files: { "poetry.lock": "{}" },
      answers: [
        [writing("config/secrets.ini", "KEY=1")],
        [calling("edit_file", { path: "poetry.lock", old_text: "{}", new_text: "[]" })],
        [writing("src.ts", "x")],
      ],
    });
    await bench.send("go");
    expect(existsSync(join(bench.repo, "config/secrets.ini"))).toBe(false);
    expect(readFileSync(join(bench.repo, "poetry.lock"), "utf8")).toBe("{}");
    expect(readFileSync(join(bench.repo, "src.ts"), "utf8")).toBe("x");
    expect(bench.denied()).toBe(2);
  });

  it("[HOOK-51] one that answers with JSON denies with its reason", async () => {
    const bench = await hookedExchange({
      hooks: { PreToolUse: [hook(script("decide.py", DECIDER), "Write")] },
      answers: [[writing("notes.md", "n")], [writing("a.ts", "a")]],
    });
    await bench.send("go");
    expect(bench.results()[0]).toContain("Documents are written by people.");
    expect(existsSync(join(bench.repo, "notes.md"))).toBe(false);
    expect(existsSync(join(bench.repo, "a.ts"))).toBe(true);
  });
});

describe.skipIf(!HAS_JQ)("hooks with jq (need jq)", () => {
  it("[HOOK-52] a formatter runs on the files that it is for, and their paths may have blanks", async () => {
    const upper = script(
      "format.sh",
      '#!/bin/sh\ntr a-z A-Z < "$1" > "$1.new" && mv "$1.new" "$1"\n',
    );
    const line = `file=$(jq -r .tool_input.file_path); [ "\${file%.ts}" = "$file" ] || ${upper} "$file"`;
    const bench = await hookedExchange({
      hooks: { PostToolUse: [hook(line, "Edit|MultiEdit|Write")] },
      answers: [[writing("a file.ts", "abc\n")], [writing("b.txt", "abc\n")]],
    });
    await bench.send("go");
    expect(readFileSync(join(bench.repo, "a file.ts"), "utf8")).toBe("ABC\n");
    expect(readFileSync(join(bench.repo, "b.txt"), "utf8")).toBe("abc\n");
    expect(bench.results()[0]).toContain("+ABC");
  });

  it("[HOOK-52] a log of commands has each command on a line", async () => {
    const log = join(temporaryFolder(), "commands.txt");
    const line = `jq -c '[.tool_name, .tool_input.command]' >> ${log}`;
    const bench = await hookedExchange({
      hooks: { PreToolUse: [hook(line, "Bash")] },
      answers: [[running("echo one")], [running("echo two | cat")]],
    });
    await bench.send("go");
    expect(readFileSync(log, "utf8")).toBe('["Bash","echo one"]\n["Bash","echo two | cat"]\n');
    expect(bench.denied()).toBe(0);
  });

  it("[HOOK-50] an audit of to-do lists gets them as TodoWrite", async () => {
    const log = join(temporaryFolder(), "todos.txt");
    const line = `jq -r '.tool_name, (.tool_input.todos[] | "\\(.status) \\(.content)")' >> ${log}`;
    const tasks = [
      { text: "one", state: "done" },
      { text: "two", state: "running" },
    ];
    const bench = await hookedExchange({
      hooks: { PreToolUse: [hook(line, "TodoWrite")], PostToolUse: [hook("exit 2", "Task")] },
      answers: [[calling("update_tasks", { tasks })]],
    });
    await bench.send("go");
    expect(readFileSync(log, "utf8")).toBe("TodoWrite\ncompleted one\nin_progress two\n");
    expect(bench.denied()).toBe(0);
  });
});

it("[HOOK-53] a notification runs a program when a person is asked, and changes nothing", async () => {
  const folder = temporaryFolder();
  const shown = join(folder, "shown");
  const notify = script("notify-send", `#!/bin/sh\nprintf '%s|' "$@" >> ${shown}\n`);
  const bench = await hookedExchange({
    hooks: { Notification: [hook(`${notify} 'Reprise' 'It waits for you'`)] },
    permission: "ask",
    answers: [[writing("a.txt", "a")]],
  });
  expect((await bench.send("go")).state).toBe("waiting");
  expect(readFileSync(shown, "utf8")).toBe("Reprise|It waits for you|");
});
