import { expect, it } from "vitest";

import { positionAfter } from "../../../src/core/live/live-position.ts";
import type { LiveReasoning } from "../../../src/core/live/live-state.ts";
import type { SessionSummary } from "../../../src/core/schemas/schemas.ts";
import { cursorAt, eventsBetween } from "../../../src/exchange/live/events-between.ts";
import { LiveRun } from "../../../src/exchange/live/live-run.ts";
import type { LiveView } from "../../../src/exchange/live/live-view.ts";

const OWN = { exchange_id: "e", session_id: "s" };

function viewOf(reasoning: LiveReasoning | null, text = ""): LiveView {
  return {
    session: { id: "s", last_seq: 0, state: "active" } as SessionSummary,
    messages: [],
    more: false,
    answer: null,
    exchange: null,
    questions: [],
    ended: () => null,
    live: { n: 1, attempt: 1, message_id: text === "" ? null : "a", text },
    state: { calls: [], usage: { input_tokens: 0, output_tokens: 0 }, retry: null, reasoning },
    phases: [],
  };
}

it("[LIVE-74] reasoning comes before the text of its answer, and all of it is in a snapshot", () => {
  const first = eventsBetween(cursorAt(positionAfter(0)), viewOf({ message_id: "a", text: "le" }));
  expect(first.events.map(({ event }) => event)).toEqual(["snapshot"]);
  expect(first.events[0]?.data).toMatchObject({ reasoning: { message_id: "a", text: "le" } });
  const next = eventsBetween(first.cursor, viewOf({ message_id: "a", text: "let me see" }, "It"));
  expect(next.events.map(({ event, data }) => [event, data])).toEqual([
    ["reasoning", { message_id: "a", text: "t me see" }],
    ["text", { message_id: "a", attempt: 1, offset: 0, text: "It" }],
  ]);
  const again = eventsBetween(next.cursor, viewOf({ message_id: "b", text: "" }));
  expect(again.events.map(({ event, data }) => [event, data])).toContainEqual([
    "reasoning",
    { message_id: "b", text: "" },
  ]);
});

it("[LIVE-74] reasoning is gone once its answer is stored or void, and one model's is followed", () => {
  const run = new LiveRun("s", { n: 1, epoch: 1 });
  const think = (message_id: string, text: string) =>
    run.heard({ type: "reasoning", ...OWN, message_id, text });
  const shown = () => run.current.state.reasoning;
  think("a", "let ");
  think("b", "so ");
  think("a", "me");
  expect(shown()).toEqual({ message_id: "b", text: "so " });
  const again = { attempt: 2, code: "model_failed", reason: "busy", delay_ms: 1 } as const;
  run.heard({ type: "retry", ...OWN, message_id: "b", ...again });
  expect(shown()).toBeNull();
  think("c", "well");
  run.heard({
    type: "message",
    ...OWN,
    message_id: "c",
    call_id: null,
    seq: 2,
    role: "assistant",
    is_summary: false,
  });
  expect(shown()).toBeNull();
});
