import { expect, it } from "vitest";

import { positionAfter } from "../../../src/core/live/live-position.ts";
import type { LiveOutput } from "../../../src/core/live/live-state.ts";
import type { SessionSummary } from "../../../src/core/schemas/schemas.ts";
import { cursorAt, eventsBetween } from "../../../src/exchange/live/events-between.ts";
import { LiveRun } from "../../../src/exchange/live/live-run.ts";
import type { LiveView } from "../../../src/exchange/live/live-view.ts";
import { linesAfter, OutputLines, OutputPieces } from "../../../src/exchange/live/output-lines.ts";

const OWN = { exchange_id: "e", session_id: "s" };
const FACTS = { effect: null, subject: null } as const;

function outputOf(lines_before: number, text: string): LiveOutput {
  return { call_id: "c", lines_before, text };
}

function viewOf(outputs: readonly LiveOutput[] | undefined): LiveView {
  const usage = { input_tokens: 0, output_tokens: 0 };
  return {
    session: { id: "s", last_seq: 0, state: "active" } as SessionSummary,
    messages: [],
    more: false,
    answer: null,
    exchange: null,
    questions: [],
    ended: () => null,
    live: { n: 1, attempt: 1, message_id: null, text: "" },
    state: {
      calls: [],
      usage,
      retry: null,
      reasoning: null,
      ...(outputs === undefined ? {} : { outputs }),
    },
    phases: [],
  };
}

/** A run of one exchange with a call that runs. */
function runWithCall(call_id = "c"): LiveRun {
  const run = new LiveRun("s", { n: 1, epoch: 1 });
  call(run, call_id);
  return run;
}

function call(run: LiveRun, call_id: string): void {
  const name = "run_command";
  run.heard({ type: "tool_call", ...OWN, message_id: "a", call_id, name, args: {}, ...FACTS });
}

function shownBy(run: LiveRun): readonly LiveOutput[] {
  run.showOutputs();
  return run.current.state.outputs ?? [];
}

it("[LIVE-80] a reader gets each line once, and the last ones in its snapshot", () => {
  const first = eventsBetween(cursorAt(positionAfter(0)), viewOf([outputOf(0, "1\n2\n")]));
  expect(first.events.map(({ event }) => event)).toEqual(["snapshot"]);
  expect(first.events[0]?.data).toMatchObject({ outputs: [outputOf(0, "1\n2\n")] });
  const next = eventsBetween(first.cursor, viewOf([outputOf(1, "2\n3\n4\n")]));
  expect(next.events.map(({ event, data }) => [event, data])).toEqual([
    ["output", outputOf(2, "3\n4\n")],
  ]);
  // lines that nobody keeps any more are missing, and the number says so
  const later = eventsBetween(next.cursor, viewOf([outputOf(9, "10\n")]));
  expect(later.events.map(({ data }) => data)).toEqual([outputOf(9, "10\n")]);
  // another node has stored less
  expect(eventsBetween(later.cursor, viewOf([outputOf(1, "2\n")])).events).toEqual([]);
  expect(eventsBetween(later.cursor, viewOf([])).events).toEqual([]);
});

it("[LIVE-80] a state that an earlier version stored has no output", () => {
  const { events } = eventsBetween(cursorAt(positionAfter(0)), viewOf(undefined));
  expect(events[0]?.data).toMatchObject({ outputs: [] });
});

it("[LIVE-81] of any output 20 lines and 4,096 bytes are kept, and each line is clean", () => {
  const lines = new OutputLines("c");
  for (let line = 0; line < 100_000; line += 1) {
    lines.add(`line ${line}\n`);
  }
  expect(lines.value.lines_before).toBe(99_980);
  expect(lines.value.text.split("\n")).toHaveLength(21);
  expect(lines.value.text).toMatch(/\nline 99999\n$/);
  for (const hostile of ["\u202e", "👩", "漢", "\u001b[2J", "\ud800", "a\rb\rc"]) {
    lines.add(`${hostile.repeat(100_000)}\n`.repeat(3));
    const { text, lines_before } = lines.value;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
    expect(text).not.toBe("");
    expect(text.isWellFormed()).toBe(true);
    // oxlint-disable-next-line no-control-regex -- none of these may be left
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(linesAfter(undefined, lines.value)).toEqual({ call_id: "c", lines_before, text });
  }
});

it("[LIVE-81] a line without an end and an empty one are lines", () => {
  const lines = new OutputLines("c");
  lines.add("\n\nPassword: ");
  expect(lines.value).toEqual(outputOf(0, "\n\nPassword: \n"));
});

it("[LIVE-82] a call has output while it runs, and until the message with their result is stored", () => {
  const run = runWithCall();
  run.printed("c", "");
  expect(run.showOutputs()).toBe(false);
  run.printed("c", "one\n");
  expect(shownBy(run)).toEqual([outputOf(0, "one\n")]);
  const result = { status: "ok", content: "", content_bytes: 0, duration_ms: 1 } as const;
  run.heard({ type: "tool_result", ...OWN, call_id: "c", name: "n", ...FACTS, ...result });
  run.printed("c", "late\n");
  expect(shownBy(run)).toEqual([outputOf(0, "one\n")]);
  const stored = { message_id: "m", seq: 3, role: "tool", is_summary: false } as const;
  run.heard({ type: "message", ...OWN, ...stored, call_id: "c" });
  expect(run.current.state.outputs).toEqual([]);
});

it("[LIVE-80] a call that runs after its question was answered has output, although its event came before", () => {
  const continued = new LiveRun("s", { n: 1, epoch: 2 });
  continued.printed("c", "one\n");
  expect(shownBy(continued)).toEqual([outputOf(0, "one\n")]);
});

it("[LIVE-81] the output of 8 calls is shown, of those that printed last", () => {
  const run = runWithCall("0");
  const ids = Array.from({ length: 20 }, (_, id) => String(id));
  ids.forEach((id) => call(run, id));
  ids.forEach((id) => run.printed(id, "a\n"));
  run.printed("3", "b\n");
  expect(shownBy(run).map(({ call_id }) => call_id)).toEqual([...ids.slice(-7), "3"]);
});

it("[LIVE-80] pieces are read once over connections, with the count of missing lines", () => {
  const pieces = new OutputPieces();
  expect(pieces.add(outputOf(0, "1\n2\n"))).toEqual({ text: "1\n2\n", missing: 0 });
  expect(pieces.add(outputOf(1, "2\n3\n"))).toEqual({ text: "3\n", missing: 0 });
  expect(pieces.add(outputOf(1, "2\n3\n"))).toBeNull();
  expect(pieces.add(outputOf(7, "8\n"))).toEqual({ text: "8\n", missing: 4 });
  pieces.forget("c");
  expect(pieces.add(outputOf(2, "3\n"))).toEqual({ text: "3\n", missing: 2 });
});
