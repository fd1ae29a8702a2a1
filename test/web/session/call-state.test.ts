import { signal } from "@preact/signals";
import { expect, it } from "vitest";

import type { MessageInfo } from "../../../src/entries/client.ts";
import { isFailed, stateOf } from "../../../web/session/calls/call-state.ts";
import { messageInfo } from "./messages.ts";

const MODEL = { live: signal(null), ends: new Map() };

function stateWith(result: MessageInfo | null | undefined) {
  const call = { id: "c", name: "new_tool", args: {}, effect: "changes", subject: "a.ts" } as const;
  return stateOf({ call, answer: "m1", asked_at: messageInfo(1).ts, result }, MODEL);
}

it.each([
  ["ok", false, ""],
  ["failed", true, "Failure: why"],
  ["denied", true, "Failure: why"],
  ["not_run", true, "Failure: why"],
  ["unknown", false, "Failure: why"],
] as const)(
  "[PAGE-62] shows a call that ended as %s by its status, whatever its result says",
  (status, failed, reason) => {
    const content = "Failure: why\nexit code 0 after 1.0 s";
    const shown = stateWith(messageInfo(3, { role: "tool", call_id: "c", status, content }));
    expect(shown).toEqual({ state: status, reason, took: 2000 });
    expect(isFailed(shown.state)).toBe(failed);
  },
);

it("[PAGE-62] shows a call without a result, one that was not read, and one whose end was not recorded", () => {
  expect(stateWith(null).state).toBe("unknown");
  expect(stateWith(undefined).state).toBe("unread");
  expect(stateWith(messageInfo(3, { role: "tool", call_id: "c", content: "Error: x" }))).toEqual({
    state: "unknown",
    reason: "",
    took: 2000,
  });
});
