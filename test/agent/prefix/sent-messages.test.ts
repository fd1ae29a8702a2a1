import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { expect, it } from "vitest";

import { keepProviderIds } from "../../../src/agent/messages/call-ids.ts";
import { keepMaker } from "../../../src/agent/messages/foreign-answers.ts";
import { endMetadata } from "../../../src/agent/models/answer-end.ts";
import { noted } from "../../../src/agent/prefix/note.ts";
import { sentMessages } from "../../../src/agent/prefix/sent-messages.ts";

/** Few ids, so that calls share them. */
const callId = fc.constantFrom("a", "b", "c", "d", "e");
const part = fc.oneof(
  fc.record({ kind: fc.constant("user"), note: fc.boolean() }),
  fc.record({
    kind: fc.constant("answer"),
    text: fc.constantFrom("", " ", "text"),
    end: fc.constantFrom("whole", "cut"),
    maker: fc.constantFrom("one/chat", "two/chat", null),
    thinks: fc.boolean(),
    calls: fc.array(fc.record({ own: callId, given: fc.option(callId) }), { maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant("result"), id: callId }),
);
type Part = typeof part extends fc.Arbitrary<infer Made> ? Made : never;

function messageOf(made: Part, at: number): BaseMessage {
  const id = `m${at}`;
  if ("note" in made) {
    const note = made.note ? { text: `note ${at}`, known: {} } : null;
    return noted(new HumanMessage({ id, content: `question ${at}` }), note);
  }
  if ("id" in made) {
    return new ToolMessage({ id, content: "result", tool_call_id: made.id });
  }
  const { text, end, maker, thinks, calls } = made;
  const answer = new AIMessage({
    id,
    content: thinks
      ? [
          { type: "thinking", thinking: "…", signature: "s" },
          { type: "text", text },
        ]
      : text,
    tool_calls: calls.map(({ own }) => ({ id: own, name: "tool", args: {} })),
    response_metadata: end === "cut" ? endMetadata({ end, reason: "length", category: null }) : {},
  });
  keepProviderIds(
    answer,
    calls.map(({ given }) => given ?? ""),
  );
  if (maker !== null) {
    keepMaker(answer, maker);
  }
  return answer;
}

/** The message as it is read again: equal, and another object. */
function again(message: BaseMessage): BaseMessage {
  return Object.assign(
    Object.create(Object.getPrototypeOf(message) as object),
    message,
  ) as BaseMessage;
}

it("[PREFIX-14] a thread that is sent with an end is sent as if it were sent for the first time", () => {
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat(), { maxLength: 4 }),
      fc.option(fc.nat(12)),
      (parts, cuts, after) => {
        const messages = parts.map(messageOf);
        const to = { maker: "one/chat", after: after === null ? null : `m${after}`, mark: null };
        const known = new WeakMap<BaseMessage, object>();
        const first = messages[0]!;
        for (const cut of [
          ...cuts.map((one) => one % messages.length),
          messages.length - 1,
        ].toSorted((a, b) => a - b)) {
          // the first one is the key, and is shared by all
          const list = [first, ...messages.slice(1, cut + 1).map(again)];
          // a prefix begins after messages that are there
          const now = { ...to, after: (after ?? 0) <= cut ? to.after : null };
          expect(sentMessages(list, now, known)).toEqual(sentMessages(list, now));
        }
      },
    ),
    { numRuns: 2000 },
  );
});

it("[PREFIX-14] a message that was changed in its place is sent as it is now", () => {
  const known = new WeakMap<BaseMessage, object>();
  const to = { maker: "one/chat", after: null, mark: null };
  const first = new HumanMessage({ id: "1", content: "question" });
  const answer = (text: string) => new AIMessage({ id: "2", content: text });
  const textsOf = (list: readonly BaseMessage[]) =>
    sentMessages(list, to, known).map(({ text }) => text);
  expect(textsOf([first, answer("old")])).toEqual(["question", "old"]);
  expect(textsOf([first, answer("new")])).toEqual(["question", "new"]);
  expect(textsOf([first])).toEqual(["question"]);
});

it.each(["one/chat", "two/chat"])(
  "[ANSWER-47] an answer that was cut off is followed by a request for its rest, made by %s",
  (maker) => {
    const question = new HumanMessage({ id: "1", content: "question" });
    const response_metadata = endMetadata({ end: "cut", reason: "length", category: null });
    const answer = new AIMessage({ id: "2", content: "half", response_metadata });
    keepMaker(answer, maker);
    const sent = sentMessages([question, answer], { maker: "one/chat", after: null, mark: null });
    expect(sent.map(({ type }) => type)).toEqual(["human", "ai", "human"]);
  },
);
