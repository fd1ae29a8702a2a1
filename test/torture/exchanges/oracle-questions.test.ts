import { describe, expect, it } from "vitest";

import { permissionChoices } from "../../../src/core/text/words.ts";
import type { Message } from "../../../src/core/sessions.ts";
import type { Reply } from "./clients.ts";
import type { Effect } from "./effects.ts";
import { expectAnswered, expectConsent } from "./oracle-questions.ts";
import type { QuestionRow } from "./rows.ts";

const AT = "2026-01-01T00:00:00.000Z";

const question: QuestionRow = {
  session_id: "s",
  thread_suffix: 0,
  call_id: "c",
  number: 1,
  id: "q",
  state: "answered",
  kind: "permission",
  text: "buy m1/0.0",
  choices: JSON.stringify(permissionChoices(null)),
  permission: null,
  shown_hash: "h",
  default_answer: null,
  answer_by: null,
  asked_at: AT,
  answered_at: AT,
  answered_by: "http",
  answer: "allow_once",
  answered_here: 1,
  answered_epoch: null,
  note: "by 0",
  changed: 1,
};
const reply: Reply = { question: "q", note: "by 0", answer: "allow_once", counts: "yes" };
const effect: Effect = { what: "m1/0.0", tool: "buy", node: "n", at: Date.parse(AT) + 5 };

function result(content: string): Message {
  const numbers = { seq: 3, token_count: 0 };
  const rest = {
    tool_calls: null,
    call_id: null,
    status: null,
    is_summary: false,
    archived: false,
    ts: AT,
  };
  return { session_id: "s", message_id: "m", role: "tool", content, ...numbers, ...rest };
}

describe("the oracle of questions", () => {
  it("finds nothing wrong with one answer and what it allows", () => {
    const messages = [result("bought m1/0.0")];
    expectAnswered([question], [reply, { ...reply, note: "by 1", counts: "no" }]);
    expectConsent([question], { messages, effects: [effect] });
    const refused = [result("refused m1/0.0")];
    expectConsent([{ ...question, answer: "deny" }], { messages: refused, effects: [] });
  });

  it.each([
    ["an open question", [{ ...question, state: "open", answer: null }], []],
    ["an answer that nobody gave", [question], []],
    ["an answer that was refused", [question], [{ ...reply, counts: "no" }]],
    ["two answers that count", [question], [reply, { ...reply, note: "by 1" }]],
    ["an answer of another", [{ ...question, answer: "deny" }], [reply]],
  ] as const)("finds %s", (_, questions, replies) => {
    expect(() => expectAnswered(questions, replies)).toThrow(/answer|open|counted/);
  });

  const messages: readonly Message[] = [];
  it.each([
    ["without a question", [], { messages, effects: [effect] }],
    ["after a no", [{ ...question, answer: "deny" }], { messages, effects: [effect] }],
    ["before the yes", [question], { messages, effects: [{ ...effect, at: 0 }] }],
    ["that a result invents", [question], { messages: [result("bought m1/0.0")], effects: [] }],
    [
      "that a result denies",
      [question],
      { messages: [result("refused m1/0.0")], effects: [effect] },
    ],
    ["that was allowed twice", [question, { ...question, id: "r" }], { messages, effects: [] }],
  ] as const)("finds an effect %s", (_, questions, seen) => {
    expect(() => expectConsent(questions, seen)).toThrow(/m1/);
  });
});
