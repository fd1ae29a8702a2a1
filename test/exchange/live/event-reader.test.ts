import { expect, it } from "vitest";

import type { LiveEvent } from "../../../src/core/schemas/live.ts";
import { EventReader, type EventSink } from "../../../src/exchange/live/event-reader.ts";
import { exchangeInfo, messageEvent } from "../../helpers/live-events.ts";

const text = (message_id: string, piece: string): LiveEvent => ({
  id: "",
  event: "text",
  data: { message_id, attempt: 1, offset: 0, text: piece },
});
const reset = (message_id: string): LiveEvent => ({
  id: "",
  event: "reset",
  data: { message_id, attempt: 1 },
});
const call = { id: "c", name: "pay", args: {}, effect: null, subject: null };
const running: LiveEvent = {
  id: "",
  event: "tool_call",
  data: { ...call, call_id: "c", message_id: "m2", status: "running", duration_ms: null },
};

/** What a person is shown, in words. */
function shown(events: readonly LiveEvent[]): readonly string[] {
  const all: string[] = [];
  const sink: EventSink = {
    reasoning: (id, piece) => all.push(`${id} thinks ${piece}`),
    text: (id, piece) => all.push(`${id} ${piece}`),
    textEnd: (id, isVoid) => all.push(`${id} is ${isVoid ? "void" : "stored"}`),
    message: ({ seq }, hasArrived) => all.push(`#${seq}${hasArrived ? "" : " at once"}`),
    call: ({ name }) => all.push(`calls ${name}`),
    output: (id, lines) => all.push(`${id} prints ${lines}`),
    result: (_, of) => all.push(`result of ${of?.name ?? "a tool"}`),
    exchange: ({ state }) => all.push(state),
    question: ({ id }) => all.push(`asks ${id}`),
    usage: () => undefined,
    retry: () => undefined,
  };
  const reader = new EventReader(sink, { callsInOrder: false });
  for (const event of events) {
    reader.read(event);
  }
  return all;
}

it("[LIVE-24] an answer arrives in pieces and is stored, or comes at once", () => {
  const events = [text("m2", "an "), text("m2", "answer"), messageEvent(2, "assistant")];
  expect(shown([...events, messageEvent(3, "assistant")])).toEqual([
    "m2 an ",
    "m2 answer",
    "m2 is stored",
    "#2",
    "#3 at once",
  ]);
});

it("[LIVE-74] what a model thinks comes once, also if a connection begins with it again", () => {
  const thinks = (piece: string): LiveEvent => ({
    id: "",
    event: "reasoning",
    data: { message_id: "m2", text: piece },
  });
  const state = { session: {}, exchange: null, questions: [], calls: [], outputs: [], retry: null };
  const again = {
    id: "",
    event: "snapshot",
    data: {
      ...state,
      usage: null,
      reasoning: { message_id: "m2", text: "let me see" },
      text: null,
      last_seq: 1,
    },
  } as unknown as LiveEvent;
  expect(shown([thinks("let "), thinks("me"), again, text("m2", "answer")])).toEqual([
    "m2 thinks let ",
    "m2 thinks me",
    "m2 thinks  see",
    "m2 answer",
  ]);
});

it("[LIVE-25] a text that is declared void, or that an exchange leaves, is void once", () => {
  expect(shown([text("a", "half"), reset("a"), reset("a"), text("b", "new")])).toEqual([
    "a half",
    "a is void",
    "b new",
  ]);
  const failed: LiveEvent = { id: "", event: "exchange", data: exchangeInfo(1, "failed") };
  expect(shown([text("a", "half"), failed])).toEqual(["a half", "a is void", "failed"]);
});

it("[LIVE-23] a call is shown once, from whichever event comes first, and names its result", () => {
  const answer = messageEvent(2, "assistant", { tool_calls: [call] });
  const result = messageEvent(3, "tool", { call_id: "c", status: "ok" });
  for (const events of [
    [running, answer, running, result],
    [answer, running, result, running],
  ]) {
    expect(shown(events).filter((each) => !each.startsWith("#"))).toEqual([
      "calls pay",
      "result of pay",
    ]);
  }
  const waiting: LiveEvent = { id: "", event: "exchange", data: exchangeInfo(1, "waiting") };
  expect(shown([answer, waiting, result]).at(-1)).toBe("result of a tool");
});
