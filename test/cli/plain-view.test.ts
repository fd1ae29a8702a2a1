import { expect, it } from "vitest";

import type { CallStatus } from "../../src/core/calls.ts";
import type { ToolEffect } from "../../src/core/tools.ts";
import type { CliContext } from "../../src/cli/process/context.ts";
import { createPlainView } from "../../src/cli/lines/plain-view.ts";

const OWN = { exchange_id: "e", session_id: "s" };
const CHILD = { exchange_id: "f", session_id: "c" };

function plainView() {
  const lines: string[] = [];
  const output = { isTTY: true, print: (text: string) => void lines.push(text.trimEnd()) };
  const cli = { stdout: output, stderr: output } as Partial<CliContext> as CliContext;
  const view = createPlainView(cli);
  view.show({ type: "started", ...OWN, thread_id: "t", model: null, persona_name: null });
  const run = (
    effect: ToolEffect | null,
    { status, content = "", of = OWN }: { status: CallStatus; content?: string; of?: typeof OWN },
  ): void => {
    const call = { call_id: "1", name: "new_tool", effect, subject: "a.ts" };
    view.show({ type: "tool_call", ...of, message_id: "m", args: {}, ...call });
    const sizes = { content_bytes: 1, duration_ms: 1 };
    view.show({ type: "tool_result", ...of, ...call, status, content, ...sizes });
  };
  return { view, run, lines };
}

it("[CLI-96] shows calls by what their tools do and how they ended, whatever they are called or say", () => {
  const { run, lines } = plainView();
  run("reads", { status: "ok", content: "text" });
  run("reads", { status: "failed", content: "Failure: it is gone\nmore" });
  run("changes", { status: "denied", content: "Failure: the user said no" });
  run("runs", { status: "ok", content: "it ended well\nSandbox: moved out\n\nSandbox: no note" });
  run("runs", { status: "failed", content: "it ended with 3\nSandbox: moved out\n\noutput" });
  run("asks", { status: "ok", content: "blue\nor green" });
  run(null, { status: "unknown", content: "nobody knows" });
  run("runs", { status: "failed", content: "it ended with 4\nSandbox: note\n\n", of: CHILD });
  expect(lines.filter((line) => line !== "· new_tool a.ts")).toEqual([
    "· new_tool failed: Failure: it is gone",
    "· new_tool was denied: Failure: the user said no",
    "· it ended well",
    "note: moved out",
    "· new_tool failed: it ended with 3",
    "note: moved out",
    "· new_tool returned: blue",
    "· new_tool may have run: nobody knows",
    "note: note",
  ]);
});

it.each([
  ["changes", "ok", true],
  ["changes", "denied", false],
  ["runs", "failed", true],
  ["reads", "ok", false],
  ["asks", "ok", false],
] as const)(
  "[UNDO-19] reads changes after a call that %s and ended as %s: %s",
  (effect, status, expected) => {
    const { view, run } = plainView();
    run(effect, { status });
    expect(view.hasChangedFiles()).toBe(expected);
  },
);

it("[TERM-152] says that the model thinks, and for how long it did; of an attempt that failed, nothing", () => {
  const { view, lines } = plainView();
  view.show({ type: "reasoning", ...OWN, message_id: "a", text: "in vain" });
  const again = { attempt: 2, code: "model_failed", reason: "busy", delay_ms: 1000 } as const;
  view.show({ type: "retry", ...OWN, message_id: "a", ...again });
  view.show({ type: "reasoning", ...OWN, message_id: "b", text: "let me" });
  view.show({ type: "reasoning", ...OWN, message_id: "b", text: " see" });
  view.show({ type: "text", ...OWN, message_id: "b", text: "Hello." });
  expect(lines).toEqual([
    "· thinking…",
    "note: busy; asking again in 1 s.",
    "· thinking…",
    "· thought for 0 s",
    "Hello.",
  ]);
});
