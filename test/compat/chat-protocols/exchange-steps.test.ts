import { expect, it } from "vitest";

import type { LiveEvent } from "../../../src/core/schemas/live.ts";
import type { QuestionInfo } from "../../../src/core/schemas/schemas.ts";
import { createExchangeSteps } from "../../../src/compat/chat-protocols/exchange-steps.ts";
import { messageEvent as message } from "../../helpers/live-events.ts";

function question(id: string, call_id: string): QuestionInfo {
  return {
    id,
    session_id: "s",
    call_id,
    number: 1,
    state: "open",
    kind: "permission",
    text: "?",
    choices: null,
    permission: null,
    choice: null,
    default_answer: null,
    answer_by: null,
    asked_at: "2026-01-01T00:00:00.000Z",
    answered_at: null,
    answered_by: null,
    answered_who: null,
    answer: null,
    note: null,
    path: ["s"],
  };
}

const text = (message_id: string, piece: string): LiveEvent => {
  return { id: "", event: "text", data: { message_id, attempt: 1, offset: 0, text: piece } };
};

it("[UI-3] takes back what a failed attempt wrote, and shows a stored answer once", () => {
  const steps = createExchangeSteps(1, []);
  const seen = [
    text("a", "half an"),
    { id: "", event: "reset", data: { message_id: "a", attempt: 1 } } as const,
    text("m2", "an "),
    text("m2", "answer"),
    message(2, "assistant", { content: "an answer" }),
    message(3, "assistant", { content: "unseen" }),
  ].flatMap((event) => steps.of(event));
  expect([...seen, ...steps.end(false)]).toEqual([
    { type: "text", message_id: "a", text: "half an" },
    { type: "text_end", message_id: "a", is_void: true },
    { type: "text", message_id: "m2", text: "an " },
    { type: "text", message_id: "m2", text: "answer" },
    { type: "text_end", message_id: "m2", is_void: false },
    { type: "text", message_id: "m3", text: "unseen" },
    { type: "text_end", message_id: "m3", is_void: false },
  ]);
});

const reasoning = (message_id: string, piece: string): LiveEvent => {
  return { id: "", event: "reasoning", data: { message_id, text: piece } };
};
const retry: LiveEvent = {
  id: "",
  event: "retry",
  data: { attempt: 2, code: "model_failed", reason: "", until: "2026-01-01T00:00:00.000Z" },
};

it("[UI-43] [UI-3] shows reasoning before its answer, and takes it back with an attempt that failed", () => {
  const steps = createExchangeSteps(1, []);
  const seen = [
    reasoning("a", "hm"),
    retry,
    reasoning("b", "not seen to end"),
    reasoning("m2", ""),
    { id: "", event: "retry", data: null } as const,
    reasoning("m2", "so"),
    text("m2", "an answer"),
    message(2, "assistant", { content: "an answer" }),
  ].flatMap((event) => steps.of(event));
  expect([...seen, ...steps.end(false)]).toEqual([
    { type: "reasoning", message_id: "a", text: "hm" },
    { type: "reasoning_end", message_id: "a", is_void: true },
    { type: "reasoning", message_id: "b", text: "not seen to end" },
    { type: "reasoning_end", message_id: "b", is_void: true },
    { type: "reasoning", message_id: "m2", text: "" },
    { type: "reasoning", message_id: "m2", text: "so" },
    { type: "reasoning_end", message_id: "m2", is_void: false },
    { type: "text", message_id: "m2", text: "an answer" },
    { type: "text_end", message_id: "m2", is_void: false },
  ]);
});

it("[UI-3] takes back a text that is never stored", () => {
  const steps = createExchangeSteps(1, []);
  expect([...steps.of(text("a", "x")), ...steps.end(false)]).toEqual([
    { type: "text", message_id: "a", text: "x" },
    { type: "text_end", message_id: "a", is_void: true },
  ]);
});

it("[UI-2] asks after the call that asks, and what no call asks at the end", () => {
  const steps = createExchangeSteps(1, []);
  const opened = (each: QuestionInfo): LiveEvent => ({ id: "", event: "question", data: each });
  const call = { id: "c", name: "pay", args: {} };
  const asked = question("q", "c");
  const other = question("of a sub-agent", "x");
  expect([opened(asked), opened(other)].flatMap((each) => steps.of(each))).toEqual([]);
  expect(steps.of(message(2, "assistant", { tool_calls: [call] }))).toEqual([
    { type: "call", message_id: "m2", call },
    { type: "question", question: asked, has_call: true },
  ]);
  expect(steps.of(opened(asked))).toEqual([]);
  expect(steps.end(true)).toEqual([{ type: "question", question: other, has_call: false }]);
});
