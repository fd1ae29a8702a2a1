import { setImmediate } from "node:timers/promises";

import { expect, it } from "vitest";

import { factsOfCall } from "../../../../src/core/calls.ts";
import type { LiveEvent } from "../../../../src/core/schemas/live.ts";
import type { Message, ToolCall } from "../../../../src/core/sessions.ts";
import { BUILT_IN_TOOLS } from "../../../../src/rules/tools/built-in.ts";
import { scriptedExchange, SESSION } from "../scripted-exchange.ts";

const TS = "2026-01-01T00:00:00.000Z";

function message(seq: number, fields: Partial<Message>): Message {
  return {
    session_id: SESSION,
    seq,
    role: "assistant",
    content: "",
    tool_calls: null,
    token_count: 0,
    is_summary: false,
    archived: false,
    ts: TS,
    message_id: `m${seq}`,
    call_id: null,
    status: null,
    ...fields,
  };
}

function called(id: string, name: string, args: unknown): ToolCall {
  return { id, name, args, ...factsOfCall({ name, args }, BUILT_IN_TOOLS) };
}

/** Two exchanges; the second one was interrupted while a command ran. */
const MESSAGES: readonly Message[] = [
  message(7, { role: "user", content: "first" }),
  message(8, { content: "one" }),
  message(9, { role: "system", content: "what was before", is_summary: true }),
  message(10, { role: "user", content: "second" }),
  message(11, {
    content: "I will see.",
    tool_calls: [
      called("1", "read_file", { path: "a.ts" }),
      called("2", "read_file", { path: "b.ts" }),
    ],
  }),
  message(12, { role: "tool", call_id: "1", status: "ok", content: "text" }),
  message(13, { role: "tool", call_id: "2", status: "failed", content: "Error: there is no file" }),
  message(14, { tool_calls: [called("3", "run_command", { line: "npm test" })] }),
];

it("[TERM-17] shows the last exchanges of a session as they were, and how much came before", async () => {
  const { view, printed, live, show, result, started } = scriptedExchange();
  await view.replay(MESSAGES, { exchanges: 2 });
  expect(printed).toEqual([
    "6 messages before this",
    "",
    "> first",
    "",
    "one",
    "",
    "Earlier messages are summarised for the model  [1]",
    "",
    "> second",
    "",
    "I will see.",
    "",
    "✓ Explored: read_file  1 failed  [2]",
    "  a.ts, b.ts",
    "  ✗ read_file b.ts: there is no file",
  ]);
  expect([live(), view.details(1)?.rows]).toEqual([[], ["what was before"]]);
  // the call whose result is not there continues
  started();
  expect(live()[0]).toMatch(/^• run_command npm test/);
  result("3", "run_command", { content: "exit code 0 after 0.1 s\n\n(no output)" });
  expect(printed.at(-1)).toBe("✓ run_command npm test  [3]");
  show({ type: "notice", sentence: "all is well" });
  expect(printed.at(-1)).toBe("note: all is well");
});

it("[TERM-17] shows of one exchange only this one, and of a long message its beginning", async () => {
  const { view, printed } = scriptedExchange();
  const long = message(20, { role: "user", content: "line\n".repeat(100_000) });
  await view.replay([...MESSAGES, long], { exchanges: 1 });
  expect(printed[0]).toBe("19 messages before this");
  expect(printed.length).toBeLessThan(210);
  expect(printed.at(-1)).toMatch(/^ {2}… .* lines in all, \/show 1 shows them$/);
});

const EXCHANGE_RECORD = {
  session_id: SESSION,
  n: 1,
  id: "e",
  revision: 1,
  state: "running",
  asked_by: "http",
  parent_n: null,
  model: "demo",
  fallback_model: null,
  persona_name: null,
  first_seq: 1,
  last_seq: null,
  input_tokens: null,
  output_tokens: null,
  error_code: null,
  error_sentence: null,
  begun_at: TS,
  ended_at: null,
} as const;

it("[TERM-10] [TERM-14] shows what another process runs as its own exchanges, but Esc stops nothing", async () => {
  const { view, printed, live, clock } = scriptedExchange();
  const news = (event: LiveEvent["event"], data: unknown): void =>
    view.showLive({ id: "1", event, data } as LiveEvent);
  const call = { call_id: "1", message_id: "m2", name: "my_tool", args: { a: 1 } };
  news("exchange", EXCHANGE_RECORD);
  news("message", message(1, { role: "user", content: "hello" }));
  expect(live()).toEqual([expect.stringMatching(/ Thinking 0 s$/)]);
  news("text", { message_id: "m2", attempt: 1, offset: 0, text: "half\nan" });
  news("reset", { message_id: "m2", attempt: 1 });
  news("retry", { attempt: 2, code: "model_failed", reason: "overloaded", until: TS });
  expect(live()).toEqual([expect.stringMatching(/ retrying \(2 of 3\): overloaded$/)]);
  news("retry", null);
  news("text", { message_id: "m3", attempt: 2, offset: 0, text: "whole" });
  news("tool_call", { ...call, status: "running", duration_ms: null });
  news(
    "message",
    message(2, {
      message_id: "m3",
      content: "whole",
      tool_calls: [called("1", "my_tool", { a: 1 })],
    }),
  );
  news("tool_call", { ...call, status: "failed", duration_ms: 3000 });
  news(
    "message",
    message(3, { role: "tool", call_id: "1", status: "failed", content: "it broke" }),
  );
  news("message", message(4, { content: "not streamed" }));
  clock.ms = 20_000;
  news("exchange", {
    ...EXCHANGE_RECORD,
    state: "failed",
    error_code: "model_failed",
    error_sentence: "The model failed.",
  });
  await setImmediate();
  expect(printed).toEqual([
    "> hello",
    "",
    "half",
    "",
    "The text above is void: it broke off.",
    "",
    "whole",
    "",
    '✗ my_tool {"a":1}  3.0 s  [1]: it broke',
    "",
    "not streamed",
    "",
    expect.stringContaining("The model failed."),
  ]);
  expect([live(), clock.timers]).toEqual([[], 0]);
});

it("[FALLBACK-4] names the model that answers in the place of the chosen one, once", async () => {
  const { view, printed } = scriptedExchange();
  const news = (event: LiveEvent["event"], data: unknown): void =>
    view.showLive({ id: "1", event, data } as LiveEvent);
  news("exchange", EXCHANGE_RECORD);
  const other = { ...EXCHANGE_RECORD, fallback_model: "ollama:other" };
  news("exchange", other);
  news("exchange", other);
  news("exchange", { ...other, state: "done", input_tokens: 5, output_tokens: 6 });
  await setImmediate();
  expect(printed.filter((row) => row.includes("ollama:other"))).toEqual([
    expect.stringContaining("ollama:other answers in the place of demo."),
  ]);
});

it("[TERM-10] shows a running exchange of another process from its beginning, each call once", async () => {
  const { view, printed, live } = scriptedExchange();
  const news = (event: LiveEvent["event"], data: unknown): void =>
    view.showLive({ id: "1", event, data } as LiveEvent);
  const ended = { call_id: "1", message_id: "m2", name: "my_tool", args: 1, duration_ms: 3000 };
  const running = { ...ended, call_id: "2", status: "running", duration_ms: null };
  const tool_calls = ["1", "2"].map((id) => called(id, "my_tool", 1));
  // the calls of the snapshot are later than the messages that follow it
  news("snapshot", {
    session: { id: SESSION },
    exchange: EXCHANGE_RECORD,
    questions: [],
    calls: [{ ...ended, status: "ok" }, running],
    outputs: [],
    usage: null,
    retry: null,
    reasoning: null,
    text: null,
    last_seq: 4,
  });
  news("message", message(1, { role: "user", content: "hello" }));
  news("message", message(2, { content: "first" }));
  news("message", message(3, { tool_calls }));
  news(
    "message",
    message(4, { role: "tool", call_id: "1", status: "ok", content: "Error: not one" }),
  );
  expect(printed.slice(2)).toEqual(["first", "", "✓ my_tool 1  3.0 s  [1]"]);
  expect(live()[0]).toBe("• my_tool 1  0.0 s");
  // its message may come before its end
  news("message", message(5, { role: "tool", call_id: "2", status: "ok", content: "two" }));
  news("tool_call", { ...running, status: "ok", duration_ms: 100 });
  expect([live(), printed.at(-1)]).toEqual([[expect.any(String)], "✓ my_tool 1  [2]"]);
  news("exchange", { ...EXCHANGE_RECORD, state: "done", input_tokens: 5, output_tokens: 6 });
  await setImmediate();
  expect(printed.at(-1)).toBe("done in 0 s · 5 tokens in, 6 out");
});

it("[TERM-240] shows the last lines of a command of another process, and then its result", async () => {
  const { view, printed, live } = scriptedExchange();
  const news = (event: LiveEvent["event"], data: unknown): void =>
    view.showLive({ id: "1", event, data } as LiveEvent);
  const printedLines = (lines_before: number, text: string): void =>
    news("output", { call_id: "1", lines_before, text });
  const args = { line: "make" };
  const call = { call_id: "1", message_id: "m2", name: "run_command", args, duration_ms: null };
  const facts = { effect: "runs", subject: "make" } as const;
  news("exchange", EXCHANGE_RECORD);
  news("tool_call", { ...call, ...facts, status: "running" });
  printedLines(0, "one\ntwo\n");
  expect(live().slice(0, -1)).toEqual(["• run_command make  0.0 s", "  | one", "  | two"]);
  printedLines(40, "\u001b[2Jforty-one\nforty-two\n");
  expect(live().slice(0, -1)).toEqual([
    "• run_command make  0.0 s",
    "  | two",
    "  | ␛[2Jforty-one",
    "  | forty-two",
  ]);
  const tool_calls = [{ ...called("1", "run_command", args), ...facts }];
  news("message", message(2, { message_id: "m2", tool_calls }));
  const content = `exit code 0 after 1.0 s\n\n${"line\n".repeat(50)}`;
  news("message", message(3, { role: "tool", call_id: "1", status: "ok", content }));
  // its lines are those of the result, not those that arrived
  expect(printed.slice(-2)).toEqual([
    expect.stringMatching(/^✓ run_command make .* \[1\]$/),
    "  … 50 lines, Ctrl-O shows them",
  ]);
  expect(live().join("\n")).not.toContain("|");
});

it("[TERM-240] keeps the lines of a command that was stopped", async () => {
  const { view, printed } = scriptedExchange();
  const news = (event: LiveEvent["event"], data: unknown): void =>
    view.showLive({ id: "1", event, data } as LiveEvent);
  const call = { call_id: "1", message_id: "m2", name: "run_command", args: { line: "make" } };
  const running = { effect: "runs", subject: "make", status: "running", duration_ms: null };
  news("exchange", EXCHANGE_RECORD);
  news("tool_call", { ...call, ...running });
  news("output", { call_id: "1", lines_before: 0, text: "half done\n" });
  news("exchange", { ...EXCHANGE_RECORD, state: "stopped" });
  await setImmediate();
  expect(printed).toContain("  | half done");
});
