import { expect, it } from "vitest";

import { CALL_STATUSES } from "../../../src/core/calls.ts";
import { createAgUiEncoder } from "../../../src/compat/chat-protocols/ag-ui.ts";
import { createUiEncoder } from "../../../src/compat/chat-protocols/ai-sdk.ts";
import { createExchangeSteps } from "../../../src/compat/chat-protocols/exchange-steps.ts";
import { messageEvent } from "../../helpers/live-events.ts";

const STATUSES = [...CALL_STATUSES, null];
const REQUEST = { type: "message", id: "u", text: "go" } as const;

it.each(STATUSES)("[UI-27] shows the result of a call with the status %s", (status) => {
  const isWell = status === null || status === "ok";
  const stored = messageEvent(1, "tool", { content: "the text", call_id: "c", status });
  const steps = createExchangeSteps(1, ["c"]).of(stored);

  const sdk = createUiEncoder({ id: "e", n: 1 });
  expect(steps.flatMap((step) => sdk.encode(step))).toEqual([
    isWell
      ? { type: "tool-output-available", toolCallId: "c", output: "the text", dynamic: true }
      : { type: "tool-output-error", toolCallId: "c", errorText: "the text", dynamic: true },
  ]);

  const ui = createAgUiEncoder({ threadId: "t", runId: "r" }, REQUEST);
  const before = stored.event === "message" ? [stored.data] : [];
  const message = { id: "m1", role: "tool", toolCallId: "c", content: "the text" };
  const shown = isWell ? message : { ...message, error: status };
  expect(ui.begin(before, new Map())[0]?.["messages"]).toEqual([
    shown,
    { id: "u", role: "user", content: "go" },
  ]);
});
