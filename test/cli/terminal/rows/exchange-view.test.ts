import { expect, it } from "vitest";

import type { CallStatus } from "../../../../src/core/calls.ts";
import type { FileChangeInfo } from "../../../../src/core/schemas/file-change-schemas.ts";
import type { ToolEffect } from "../../../../src/core/tools.ts";
import type { ExchangeResult } from "../../../../src/exchange/events.ts";
import { visibleWidth } from "../../../../src/cli/terminal/pi/text.ts";
import { scriptedExchange, SESSION } from "../scripted-exchange.ts";

const CHANGE: FileChangeInfo = {
  path: "c.ts",
  kind: "changed",
  tools: ["new_changes"],
  calls: [],
  added: 1,
  removed: 0,
  diff: "--- c.ts\n+++ c.ts\n@@ -0,0 +1 @@\n+b\n",
  reason: null,
  undone: false,
};
const DONE = { state: "done", answer: "" } as ExchangeResult;
const CHILD = "33333333-3333-4333-8333-333333333333";

it("[TERM-10] prints a message, answers and calls once, in order, with an empty row between them", async () => {
  const { view, printed, started, text, call, result } = scriptedExchange({ width: 30 });
  view.user("please look\nat all the files that are in a folder");
  started();
  text("a1", "I will read.\nThen ");
  text("a1", "write.");
  call("1", "write_file", { path: "a.ts", content: "" });
  result("1", "write_file");
  text("a2", "Done.");
  await view.finish(DONE);
  expect(printed).toEqual([
    "> please look",
    "  at all the files that are ",
    "  in a folder",
    "",
    "I will read.",
    "Then write.",
    "",
    "✓ write_file a.ts  [1]",
    "",
    "Done.",
    "",
    "done in 0 s",
  ]);
});

it("[TERM-10] keeps the order of calls that end in another order", async () => {
  const { view, printed, started, call, result } = scriptedExchange();
  started();
  call("1", "write_file", { path: "a.ts" });
  call("2", "write_file", { path: "b.ts" });
  result("2", "write_file");
  expect(printed).toEqual([]);
  result("1", "write_file");
  await view.finish(DONE);
  expect(printed.slice(0, 2)).toEqual(["✓ write_file a.ts  [1]", "✓ write_file b.ts  [2]"]);
});

it("[TERM-10] says in a narrow window that a text broke off", () => {
  const { show, started, text, printed } = scriptedExchange({ width: 20 });
  started();
  text("a", "half\nan");
  const broken = { message_id: "a", attempt: 2, code: "model_failed", delay_ms: 4000 } as const;
  show({ type: "retry", ...broken, reason: "overloaded" });
  expect(printed).toEqual(["half", "", "The text above is ", "void: it broke off."]);
});

it("[TERM-11] makes one group of consecutive calls that read, with the reasons of failures", async () => {
  const { view, printed, clock, live, started, call, result } = scriptedExchange();
  started();
  call("1", "read_file", { path: "a.ts" });
  call("2", "list_files", { path: "src" });
  clock.ms = 3000;
  expect(live()).toEqual([
    "• Exploring: read_file, list_files  3 s",
    "  list_files src",
    expect.stringContaining("Working 3 s · Esc stops"),
  ]);
  result("1", "read_file", { content: "text" });
  result("2", "list_files");
  call("3", "read_file", { path: "b.ts" });
  result("3", "read_file", { content: "Error: there is no such file", status: "failed" });
  call("4", "find_files", { pattern: "*.ts", path: "" });
  result("4", "find_files");
  expect(printed).toEqual([]);
  call("5", "read_file", { path: "c.ts" });
  call("6", "edit_file", { path: "c.ts" });
  result("5", "read_file");
  result("6", "edit_file", { content: "Error: old_text is not there", status: "failed" });
  await view.finish(DONE);
  expect(printed.slice(0, 4)).toEqual([
    "✓ Explored: read_file × 2, list_files, find_files  1 failed  3.0 s  [1]",
    "  a.ts, src, b.ts, *.ts, c.ts",
    "  ✗ read_file b.ts: there is no such file",
    "✗ edit_file c.ts  [2]: old_text is not there",
  ]);
});

it("[TERM-11] shows calls of tools by what they do and how they ended, whatever they are called or say", async () => {
  const { view, printed, started, show } = scriptedExchange({
    changes: async ({ call_ids }) => new Map(call_ids.map((id) => [id, [CHANGE]])),
  });
  started();
  const run = (
    call_id: string,
    effect: ToolEffect,
    { status = "ok", content = "" }: { status?: CallStatus; content?: string } = {},
  ): void => {
    const call = { call_id, name: `new_${effect}`, effect, subject: `${call_id}.ts` };
    show({ type: "tool_call", message_id: "m", args: {}, ...call });
    show({ type: "tool_result", ...call, status, content, content_bytes: 1, duration_ms: 0 });
  };
  run("a", "reads");
  run("b", "reads", { status: "failed", content: "Failure: it is gone" });
  run("c", "changes");
  run("d", "changes", { status: "denied", content: "Failure: the user denied this call" });
  run("e", "runs", { status: "failed", content: "it ended with 3\n\nlast line" });
  run("f", "asks", { content: "blue" });
  run("g", "changes", { status: "unknown", content: "Nobody knows" });
  await view.finish(DONE);
  expect(printed).toEqual([
    "✓ Explored: new_reads  1 failed  [1]",
    "  a.ts, b.ts",
    "  ✗ new_reads b.ts: Failure: it is gone",
    "✓ new_changes c.ts  +1 -0  [2]",
    "  1 + b",
    "✗ new_changes d.ts  [3]: Failure: the user denied this call",
    "✗ new_runs e.ts  +1 -0  [4]: it ended with 3",
    "  | last line",
    "  1 + b",
    "✓ new_asks f.ts  [5]",
    "  blue",
    "– new_changes g.ts  [6]: Nobody knows",
    "",
    "done in 0 s",
    "1 file +2 -0 · /undo · /diff",
  ]);
});

it("[TERM-11] [TERM-13] shows a command with its exit code, and the end of its output", async () => {
  const { view, printed, live, started, call, result } = scriptedExchange({ width: 40 });
  started();
  call("1", "run_command", { line: "npm test" });
  for (let line = 1; line <= 120; line += 1) {
    view.output({ session_id: SESSION, call_id: "1", text: `line ${line}\n` });
  }
  expect(live().slice(0, 4)).toEqual([
    "• run_command npm test  0.0 s",
    "  | line 118",
    "  | line 119",
    "  | line 120",
  ]);
  result("1", "run_command", {
    content: "exit code 1 after 12.3 s\n\nline 1",
    status: "failed",
    duration_ms: 12_345,
  });
  call("2", "run_command", { argv: ["echo", "a b"] });
  result("2", "run_command", { content: "exit code 0 after 0.3 s\n\na b\n", duration_ms: 300 });
  await view.finish(DONE);
  expect(printed.slice(0, 7)).toEqual([
    "✗ run_command npm test  12 s  [1]",
    "  exit code 1 after 12.3 s",
    "  … 117 earlier lines, Ctrl-O shows them",
    "  | line 118",
    "  | line 119",
    "  | line 120",
    '✓ run_command echo "a b"  0.3 s  [2]',
  ]);
  expect(view.details(1)?.rows).toContain("line 1");
});

it("[SANDBOX-36] shows below a command what was moved out, and not what its output claims", async () => {
  const { view, printed, started, show, call, result } = scriptedExchange({ width: 40 });
  started();
  call("1", "run_command", { line: "make" });
  result("1", "run_command", {
    content: "exit code 0 after 0.3 s\nSandbox: Moved out: sub/.envrc\n\nSandbox: nothing\n",
    duration_ms: 300,
  });
  call("d", "delegate", { persona: "reviewer", task: "look" });
  show({ type: "child", call_id: "d", child_session_id: CHILD, persona_name: "reviewer" });
  const moved = "exit code 0 after 0.3 s\nSandbox: Moved out: child/.envrc\n\n";
  const ended = {
    name: "run_command",
    effect: "runs",
    subject: "make",
    status: "ok",
    content_bytes: 1,
    duration_ms: 1,
  } as const;
  show({ type: "tool_result", call_id: "c", content: moved, ...ended }, CHILD);
  await view.finish(DONE);
  const text = printed.join("\n");
  expect(text).toContain("  Moved out: sub/.envrc");
  expect(text).toContain("Moved out: child/.envrc");
  expect(text).toContain("| Sandbox: nothing");
});

it("[TERM-12] shows below a call what it changed, unless a question showed it", async () => {
  const change: FileChangeInfo = {
    path: "a.ts",
    kind: "changed",
    tools: ["edit_file"],
    calls: [],
    added: 20,
    removed: 1,
    diff: `--- a.ts\n+++ a.ts\n@@ -1 +1,20 @@\n-a\n${"+b\n".repeat(20)}`,
    reason: null,
    undone: false,
  };
  const { view, printed, started, call, result } = scriptedExchange({
    changes: async ({ call_ids }) => new Map(call_ids.map((id) => [id, [change]])),
  });
  started();
  call("1", "edit_file", { path: "a.ts" });
  result("1", "edit_file");
  call("2", "edit_file", { path: "a.ts" });
  view.asked("2", "permission");
  result("2", "edit_file");
  await view.finish(DONE);
  expect(printed.slice(0, 14)).toEqual([
    "✓ edit_file a.ts  +20 -1  [1]",
    "   1 - a",
    ...Array.from({ length: 10 }, (_, index) => `  ${String(index + 1).padStart(2)} + b`),
    "  … 10 more rows, Ctrl-O shows them",
    "✓ edit_file a.ts  +20 -1  [2]",
  ]);
});

it("[TERM-14] shows progress from the first moment, what failed and is tried again, and nothing afterwards", async () => {
  const { view, clock, live, show, started, text, printed } = scriptedExchange();
  const now = (): string | undefined => live().at(-1)?.slice(2);
  view.begin();
  expect(now()).toBe("Starting 0 s · Esc stops");
  clock.ms = 12_000;
  started();
  expect(now()).toBe("Thinking 12 s · Esc stops");
  text("a", "half\nan");
  show({
    type: "retry",
    message_id: "a",
    attempt: 2,
    code: "model_failed",
    reason: "overloaded",
    delay_ms: 4000,
  });
  expect(now()).toBe("retrying (2 of 3) in 4 s: overloaded · Esc stops");
  expect(printed).toEqual(["half", "", "The text above is void: it broke off."]);
  text("b", "an answer");
  expect(now()).toBe("Answering 12 s · Esc stops");
  show({ type: "usage", message_id: "b", input_tokens: 3120, output_tokens: 410 });
  expect(now()).toBe("Answering 12 s · ↑ 3.1k ↓ 410 · Esc stops");
  expect(clock.timers).toBe(1);
  await view.finish(DONE);
  expect([clock.timers, live()]).toEqual([0, []]);
  expect(printed.at(-1)).toBe("done in 12 s · 3,120 tokens in, 410 out");
  expect(view.tokens().context_tokens).toBe(3530);
});

it("[TERM-210] ends an exchange with its time and tokens, unless it is short and counted none", async () => {
  const lastOf = async ({ ms = 0, tokens = 0 }): Promise<string | undefined> => {
    const { view, clock, show, started, text, printed } = scriptedExchange();
    view.begin();
    started();
    text("a", "an answer");
    if (tokens > 0) {
      show({ type: "usage", message_id: "a", input_tokens: tokens, output_tokens: 1 });
    }
    clock.ms = ms;
    await view.finish(DONE);
    return printed.at(-1);
  };
  expect(await lastOf({})).toBe("an answer");
  expect(await lastOf({ tokens: 5 })).toBe("done in 0 s · 5 tokens in, 1 out");
  expect(await lastOf({ ms: 9999 })).toBe("an answer");
  expect(await lastOf({ ms: 10_000 })).toBe("done in 10 s");
});

it("[TERM-14] does not count the wait for a person, and continues the call that asked", async () => {
  const { view, clock, live, started, call, result, printed } = scriptedExchange();
  started();
  call("1", "write_file", { path: "a.ts" });
  call("2", "write_file", { path: "b.ts" });
  result("2", "write_file");
  clock.ms = 2000;
  await view.finish({ state: "waiting" } as ExchangeResult);
  expect([printed, live(), clock.timers]).toEqual([["✓ write_file b.ts  [1]"], [], 0]);
  clock.ms = 100_000;
  started();
  expect(live()[0]).toMatch(/^• write_file a\.ts/);
  result("1", "write_file");
  clock.ms = 101_000;
  await view.finish(DONE);
  expect(printed.slice(1)).toEqual(["✓ write_file a.ts  [2]", "", "done in 3 s"]);
});

it("[TERM-10] says of a stopped exchange what became of it, and of its calls", async () => {
  const { view, started, call, printed } = scriptedExchange();
  started();
  call("1", "run_command", { line: "sleep 9" });
  await view.finish({ state: "stopped", answer: "" } as ExchangeResult);
  expect(printed).toEqual([
    "– run_command sleep 9  no result  [1]",
    "",
    "Stopped before an answer came; /continue resumes it.",
  ]);
});

it("[TERM-205] counts what an exchange changed, also if it was stopped or failed, and of that exchange alone", async () => {
  const { view, printed, started, call, result } = scriptedExchange({
    changes: async ({ call_ids }) =>
      new Map(call_ids.map((id) => [id, [{ ...CHANGE, path: `${id}.ts`, added: 2, removed: 1 }]])),
  });
  const summaries = (): string[] => printed.filter((row) => row.includes("/undo"));
  const edit = (id: string): void => {
    call(id, "edit_file", { path: `${id}.ts` });
    result(id, "edit_file");
  };
  started();
  edit("1");
  edit("2");
  await view.finish({ state: "stopped", answer: "" } as ExchangeResult);
  expect(summaries()).toEqual(["2 files +4 -2 · /undo · /diff"]);
  expect(printed.at(-1)).toBe(summaries()[0]);
  view.user("again");
  started();
  edit("3");
  await view.fail();
  expect(summaries().slice(1)).toEqual(["1 file +2 -1 · /undo · /diff"]);
  view.user("nothing");
  started();
  call("4", "read_file", { path: "a.ts" });
  result("4", "read_file");
  await view.finish(DONE);
  expect(summaries()).toHaveLength(2);
});

it("[TERM-15] shows sub-agents as a tree, and at the end how many calls they made", async () => {
  const { view, clock, live, show, started, call, result, printed } = scriptedExchange();
  started();
  call("d", "delegate", { persona: "reviewer", task: "check a.ts" });
  show({ type: "child_waiting", call_id: "d", running: 4 });
  expect(live()[0]).toBe("• sub-agent  reviewer: check a.ts · 0 s · waits, 4 run already");
  show({ type: "child", call_id: "d", child_session_id: CHILD, persona_name: "reviewer" });
  call("1", "read_file", { path: "a.ts" }, CHILD);
  clock.ms = 3000;
  // the same id as the call of the exchange
  call("d", "delegate", { persona: "tester", task: "run it" }, CHILD);
  show({ type: "child", call_id: "d", child_session_id: "c2", persona_name: "tester" }, CHILD);
  call("2", "run_command", { line: "npm test" }, "c2");
  show(
    {
      type: "retry",
      message_id: "m",
      attempt: 3,
      code: "model_failed",
      reason: "overloaded",
      delay_ms: 10,
    },
    CHILD,
  );
  clock.ms = 5000;
  expect(live()).toEqual([
    "• reviewer  check a.ts · 5 s · 2 calls · asks again (3 of 3): overloaded",
    "  └ tester  2 s · 1 call · run_command npm test",
    expect.stringContaining("Sub-agents work 5 s"),
  ]);
  result("2", "run_command", { content: "exit code 2 after 1.0 s", status: "failed" }, "c2");
  result("d", "delegate", {}, CHILD);
  result("d", "delegate", { duration_ms: 5000 });
  await view.finish(DONE);
  expect(printed[0]).toBe("✓ delegate reviewer: check a.ts  3 calls  1 failed  5.0 s  [1]");
});

it("[TERM-16] keeps what finished groups were, the latest ones, in a bounded memory", async () => {
  const { view, started, call, result } = scriptedExchange();
  started();
  const content = "x".repeat(64 * 1024);
  for (let n = 1; n <= 200; n += 1) {
    call(String(n), "my_tool", { n });
    result(String(n), "my_tool", { content });
  }
  await view.finish(DONE);
  expect(view.details(1)).toBeNull();
  expect(view.details(200)?.title).toBe('my_tool {"n":200}');
  expect(view.details()?.rows.slice(0, 3)).toEqual(["my_tool", "n: 200", ""]);
});

it("[TERM-19] shows hostile names, arguments, results and outputs in few clean rows", async () => {
  const hostile = `\u001b[2J\u202e✓ done\n✓ run_command rm [9]\r\u0007${"漢".repeat(500)}${"a".repeat(10_000)}`;
  const { view, printed, live, started, call, result, show } = scriptedExchange({
    width: 40,
    changes: async ({ call_ids }) =>
      new Map(
        call_ids.map((id) => [
          id,
          [
            {
              path: hostile,
              kind: "changed",
              tools: [],
              calls: [],
              added: 1,
              removed: 1,
              diff: `+${hostile}\n-${hostile}`,
              reason: null,
              undone: false,
            },
          ],
        ]),
      ),
  });
  view.user(hostile);
  started();
  for (const name of ["read_file", "run_command", "edit_file", "delegate", "ask_user", hostile]) {
    const args = { path: hostile, line: hostile, task: hostile, question: hostile };
    call(name, name, args);
    call(`${name}-2`, name, args);
    view.output({
      session_id: SESSION,
      call_id: name,
      text: `${hostile}${"a".repeat(1_000_000)}\n`,
    });
    expect(live(10).length).toBeLessThanOrEqual(10);
    result(name, name, { content: `Error: ${hostile}`, status: "failed" });
    result(`${name}-2`, name, { content: hostile });
  }
  show({ type: "notice", sentence: hostile });
  await view.finish(DONE);
  expect(printed.length).toBeLessThan(350);
  expect(Math.max(...printed.map(visibleWidth))).toBeLessThanOrEqual(40);
  // oxlint-disable-next-line no-control-regex -- what must not be there
  expect(printed.filter((row) => /[\u0000-\u001f\u202e]/.test(row))).toEqual([]);
  // the two that read are a group
  expect(printed.filter((row) => /^[✓✗–]/.test(row))).toHaveLength(11);
  expect(printed.filter((row) => row.startsWith("✓ run_command rm"))).toEqual([]);
});

it("[TERM-19] takes 2,000 calls at once, with few live rows and in a time in proportion", async () => {
  const { view, printed, live, started, call, result } = scriptedExchange();
  started();
  for (let n = 0; n < 2000; n += 1) {
    call(String(n), n % 2 === 0 ? "read_file" : "my_tool", { path: `${n}.ts` });
  }
  expect(live(100)).toHaveLength(8);
  expect(live(100).at(-2)).toBe("  … 1994 more calls");
  for (let n = 0; n < 2000; n += 1) {
    result(String(n), n % 2 === 0 ? "read_file" : "my_tool");
  }
  await view.finish(DONE);
  expect(printed).toHaveLength(2002);
});

it("[TERM-14] shows nothing that comes after the end", async () => {
  const { view, clock, live, started, call, result, printed } = scriptedExchange();
  started();
  call("1", "write_file", { path: "a.ts" });
  await view.finish({ state: "stopped", answer: "" } as ExchangeResult);
  const before = [...printed];
  result("1", "write_file");
  call("2", "read_file", { path: "a.ts" });
  expect([live(), clock.timers, printed]).toEqual([[], 0, before]);
});

it("[TERM-10] shows nothing of a session that is none of the exchange's", () => {
  const { started, call, live } = scriptedExchange();
  started();
  call("1", "read_file", { path: "a.ts" }, "another");
  expect(live()).toHaveLength(1);
});
