import { expect, it } from "vitest";

import type { LiveEvent } from "../../src/entries/client.ts";
import { foldSession, resumedState, snapshotOf } from "../../web/streams/session-state.ts";
import { readWire } from "../../web/streams/wire.ts";

type Snapshot = Extract<LiveEvent, { event: "snapshot" }>;

const session = { id: "s", last_seq: 2, title: "t" } as Snapshot["data"]["session"];
const snapshot = (data: Partial<Snapshot["data"]> = {}): Snapshot => ({
  id: "1",
  event: "snapshot",
  data: {
    session,
    exchange: null,
    questions: [],
    calls: [],
    outputs: [],
    usage: null,
    retry: null,
    reasoning: null,
    text: null,
    last_seq: 2,
    ...data,
  },
});
const event = (name: LiveEvent["event"], data: unknown): LiveEvent =>
  ({ id: "2", event: name, data }) as LiveEvent;
const fold = (...events: readonly LiveEvent[]) => events.reduce(foldSession, null)!;
const piece = (offset: number, text: string, message_id = "m") => ({
  message_id,
  attempt: 1,
  offset,
  text,
});
const call = (call_id: string, message_id: string, status = "running") => ({
  call_id,
  message_id,
  name: "read_file",
  args: null,
  status,
  duration_ms: null,
});

it("[PAGE-42] pieces of an answer are joined at their offsets, in code points", () => {
  const pieces = [piece(0, "a\u{1f600}"), piece(2, "b"), piece(1, "\u{1f600}b"), piece(3, "c")];
  const state = fold(snapshot(), ...pieces.map((data) => event("text", data)));
  expect(state.text).toEqual({ message_id: "m", attempt: 1, text: "a\u{1f600}bc", points: 4 });
});

it("[PAGE-42] a reader that continues keeps its text, unless it is declared void", () => {
  const before = fold(snapshot(), event("text", piece(0, "begun")));
  const kept = resumedState(before, snapshot({ last_seq: 9 }));
  expect([kept.text?.text, kept.seq]).toEqual(["begun", 2]);
  const more = resumedState(before, snapshot({ text: piece(5, " and more") }));
  expect(snapshotOf(more).data.text).toEqual(piece(0, "begun and more"));
  expect(fold(snapshotOf(more), event("reset", { message_id: "m", attempt: 1 })).text).toBeNull();
});

it("[PAGE-42] a snapshot gives its reader the whole state", () => {
  const state = fold(
    snapshot({ last_seq: 7 }),
    event("text", piece(0, "é\u{1f600}")),
    event("tool_call", call("c", "a")),
    event("usage", { n: 1, input_tokens: 2, output_tokens: 3 }),
  );
  expect(fold(snapshotOf(state))).toEqual(state);
});

it("[PAGE-42] a message ends its text and its call; calls are those of one answer", () => {
  const state = fold(
    snapshot(),
    event("text", piece(0, "hello")),
    event("message", { seq: 3, message_id: "m", call_id: null }),
    event("tool_call", call("a", "m")),
    event("tool_call", call("b", "m")),
    event("tool_call", call("b", "m", "ok")),
  );
  expect([state.text, state.seq]).toEqual([null, 3]);
  expect(state.calls.map(({ call_id, status }) => [call_id, status])).toEqual([
    ["a", "running"],
    ["b", "ok"],
  ]);
  // one that asked a person has no other end
  const answered = foldSession(state, event("message", { seq: 4, message_id: "t", call_id: "a" }));
  expect(answered?.calls.map(({ call_id }) => call_id)).toEqual(["b"]);
  const next = foldSession(state, event("tool_call", call("c", "n")));
  expect(next?.calls.map(({ call_id }) => call_id)).toEqual(["c"]);
});

it("[PAGE-42] an exchange that ends leaves no calls, and an answered question is gone", () => {
  const asked = fold(
    snapshot(),
    event("exchange", { n: 1, state: "running" }),
    event("tool_call", call("a", "m")),
    event("question", { id: "q", state: "open" }),
  );
  expect([asked.calls.length, asked.questions.length]).toEqual([1, 1]);
  const over = fold(
    snapshotOf(asked),
    event("question", { id: "q", state: "answered" }),
    event("exchange", { n: 1, state: "done" }),
  );
  expect([over.calls, over.questions, over.exchange?.state]).toEqual([[], [], "done"]);
});

it("[PAGE-42] what another version of the page says on a channel is not taken", () => {
  const status = { kind: "live" };
  const last = { id: "", event: "reset", data: {} };
  const taken = [
    { kind: "ask" },
    { kind: "event", term: "t", k: 1, event: last },
    { kind: "state", term: "t", k: 1, event: null, status },
    { kind: "status", term: "t", status },
  ];
  expect(taken.map(readWire)).toEqual(taken);
  const refused = [
    null,
    "ask",
    {},
    { kind: "later" },
    { kind: "event", term: "t", k: 1 },
    { kind: "event", term: "t", k: 1.5, event: last },
    { kind: "event", k: 1, event: last },
    { kind: "event", term: "t", k: 1, event: { event: "reset", data: {} } },
    { kind: "state", term: "t", k: 1, event: null },
    { kind: "status", status },
  ];
  expect(refused.map(readWire)).toEqual(refused.map(() => null));
});

it("[PAGE-200] lines of calls are joined, the last 20 are kept, and they go with what follows the results", () => {
  const output = (call_id: string, lines_before: number, text: string) =>
    event("output", { call_id, lines_before, text });
  const message = (role: string) =>
    event("message", { seq: 3, message_id: "x", call_id: "c", role });
  const textOf = (state: ReturnType<typeof fold>) => state.outputs.map(({ text }) => text);
  const begun = [snapshot({ outputs: [{ call_id: "c", lines_before: 4, text: "5\n" }] })];
  const printed = [...begun, output("c", 5, "6\n7\n"), output("d", 0, "of another\n")];
  expect(textOf(fold(...printed))).toEqual(["5\n6\n7\n", "of another\n"]);
  const many = fold(...begun, output("c", 5, "line\n".repeat(50)));
  expect(textOf(many)).toEqual(["line\n".repeat(20)]);
  expect(fold(snapshotOf(many))).toEqual(many);
  expect(textOf(fold(...printed, message("tool")))).toHaveLength(2);
  expect(textOf(fold(...printed, message("assistant")))).toEqual([]);
});
