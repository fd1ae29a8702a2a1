import { AIMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";

import { reportUsage } from "../../src/agent/messages/answer-progress.ts";
import type { ExchangeEvent } from "../../src/exchange/events.ts";
import { createReport } from "../../src/exchange/report-events.ts";

const identity = {
  exchange_id: "0d4c9c52-64c2-4b5e-a2c9-0d2a0b1f0e01",
  session_id: "0d4c9c52-64c2-4b5e-a2c9-0d2a0b1f0e02",
};

function listening() {
  const events: ExchangeEvent[] = [];
  return { events, report: createReport((event) => events.push(event), identity) };
}

it("[EVENT-18] texts and names of an event are well-formed and hold no NUL, as in the store", () => {
  const { events, report } = listening();
  report({ type: "text", message_id: "a\ud800", text: "b\0\udc00" });
  report({
    type: "tool_call",
    message_id: "m",
    call_id: "c\ud800x",
    name: "read_file",
    args: { "\ud800": ["\udc00", { deep: "x\ud83d" }], n: 1, none: null },
    effect: "reads",
    subject: "a\ud800",
  });
  expect(events).toEqual([
    { type: "text", ...identity, message_id: "a\ufffd", text: "b\ufffd" },
    {
      type: "tool_call",
      ...identity,
      message_id: "m",
      call_id: "c\ufffdx",
      name: "read_file",
      args: { "\ufffd": ["\ufffd", { deep: "x\ufffd" }], n: 1, none: null },
      effect: "reads",
      subject: "a\ufffd",
    },
  ]);
});

it("[EVENT-19] counts of tokens are whole numbers of 0 or more, or not reported", () => {
  const { events, report } = listening();
  for (const [input_tokens, output_tokens] of [
    [-5, 1],
    [1, 1e300],
    [1.5, 1],
    [Number.NaN, 1],
    [3, 4],
  ] as const) {
    const usage_metadata = { input_tokens, output_tokens, total_tokens: 1 };
    reportUsage(report, new AIMessage({ id: "m", content: "", usage_metadata }));
  }
  reportUsage(report, new AIMessage({ id: "m", content: "" }));
  expect(events).toEqual([
    { type: "usage", ...identity, message_id: "m", input_tokens: 3, output_tokens: 4 },
  ]);
});
