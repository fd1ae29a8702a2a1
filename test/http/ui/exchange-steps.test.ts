import { expect, it } from "vitest";

import type { LiveEvent } from "../../../src/core/live.ts";
import type { ExchangeInfo, QuestionInfo } from "../../../src/core/schemas.ts";
import { createExchangeSteps } from "../../../src/http/ui/exchange-steps.ts";

const exchange = (n: number, state: ExchangeInfo["state"]): ExchangeInfo => ({
  session_id: "s",
  n,
  id: `exchange ${n}`,
  revision: 1,
  state,
  asked_by: "http",
  parent_n: null,
  model: null,
  persona_name: null,
  first_seq: null,
  last_seq: null,
  input_tokens: null,
  output_tokens: null,
  error_code: null,
  error_sentence: null,
  begun_at: null,
  ended_at: null,
});

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
    effect: null,
    default_answer: null,
    answer_by: null,
    asked_at: "2026-01-01T00:00:00.000Z",
    answered_at: null,
    answered_by: null,
    answer: null,
    note: null,
    path: ["s"],
  };
}

function message(seq: number, role: "user" | "assistant" | "tool", more: object = {}): LiveEvent {
  return {
    id: "",
    event: "message",
    data: {
      message_id: `m${seq}`,
      session_id: "s",
      seq,
      role,
      content: "",
      tool_calls: null,
      token_count: 0,
      is_summary: false,
      archived: false,
      ts: "2026-01-01T00:00:00.000Z",
      call_id: null,
      ...more,
    },
  };
}

const now = (data: ExchangeInfo): LiveEvent => ({ id: "", event: "exchange", data });
const text = (message_id: string, piece: string): LiveEvent => {
  return { id: "", event: "text", data: { message_id, attempt: 1, offset: 0, text: piece } };
};

it("[UI-3] takes back what a failed attempt wrote, and shows a stored answer once", () => {
  const steps = createExchangeSteps({ n: 1, after_seq: 0, calls: [] });
  const seen = [
    text("a", "half an"),
    { id: "", event: "reset", data: { message_id: "a", attempt: 1 } } as const,
    text("m2", "an "),
    text("m2", "answer"),
    message(2, "assistant", { content: "an answer" }),
    message(3, "assistant", { content: "unseen" }),
    now(exchange(1, "done")),
    text("later", "of the next"),
  ].flatMap((event) => steps.of(event));
  expect(seen).toEqual([
    { type: "text", message_id: "a", text: "half an" },
    { type: "text_end", message_id: "a", is_void: true },
    { type: "text", message_id: "m2", text: "an " },
    { type: "text", message_id: "m2", text: "answer" },
    { type: "text_end", message_id: "m2", is_void: false },
    { type: "text", message_id: "m3", text: "unseen" },
    { type: "text_end", message_id: "m3", is_void: false },
  ]);
  expect(steps.isOver).toBe(true);
});

it("[UI-3] takes back a text that is never stored", () => {
  const steps = createExchangeSteps({ n: 1, after_seq: 0, calls: [] });
  expect([text("a", "x"), now(exchange(1, "failed"))].flatMap((each) => steps.of(each))).toEqual([
    { type: "text", message_id: "a", text: "x" },
    { type: "text_end", message_id: "a", is_void: true },
  ]);
});

it("[UI-2] asks after the call that asks, and what no call asks at the end", () => {
  const steps = createExchangeSteps({ n: 1, after_seq: 0, calls: [] });
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
  expect(steps.of(now(exchange(1, "waiting")))).toEqual([
    { type: "question", question: other, has_call: false },
  ]);
});

it("[UI-4] ends when the next exchange begins, also if its own end was not seen", () => {
  const steps = createExchangeSteps({ n: 1, after_seq: 0, calls: [] });
  steps.of(message(1, "user"));
  steps.of(message(2, "assistant", { content: "one" }));
  expect(steps.of(message(3, "user"))).toEqual([]);
  expect(steps.isOver).toBe(true);
  const next = createExchangeSteps({ n: 1, after_seq: 0, calls: [] });
  next.of(now(exchange(2, "queued")));
  expect(next.isOver).toBe(true);
});
