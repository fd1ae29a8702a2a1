import { expect, it } from "vitest";

import { createLiveScreen } from "../../../src/cli/lines/live-screen.ts";
import type { LiveEvent } from "../../../src/core/schemas/live.ts";
import { messageEvent } from "../../helpers/live-events.ts";

const text = (message_id: string, piece: string): LiveEvent => ({
  id: "",
  event: "text",
  data: { message_id, attempt: 1, offset: 0, text: piece },
});
const call = { id: "c", name: "pay", args: {}, effect: null, subject: "all" };
const calling: LiveEvent = {
  id: "",
  event: "tool_call",
  data: { ...call, call_id: "c", message_id: "m2", status: "running", duration_ms: null },
};

/** What is printed of events, on a terminal or in a pipe. */
function printed(events: readonly LiveEvent[], showsText: boolean): string {
  const screen = createLiveScreen({ showsText, answerWith: [], time: () => "now" });
  return events.map(screen.show).join("");
}

it("[CLI-231] [CLI-235] an answer is printed once: as it arrives, or once it is stored", () => {
  const stored = messageEvent(2, "assistant", { content: "an answer", tool_calls: [call] });
  const events = [text("m2", "an "), text("m2", "answer"), calling, stored];
  expect(printed(events, true)).toBe("\nassistant\n  an answer\n· pay all\n");
  expect(printed(events, false)).toBe("· pay all\n\n#2 assistant  now\n  an answer\n");
});

it("[CLI-231] [CLI-235] a text that becomes void is declared so after it was printed", () => {
  const reset = { id: "", event: "reset", data: { message_id: "a", attempt: 1 } } as const;
  const events: LiveEvent[] = [text("a", "half"), reset, text("b", "new")];
  expect(printed(events, true)).toBe(
    "\nassistant\n  half\nThe answer broke off: the text above is void.\n\nassistant\n  new",
  );
  expect(printed(events, false)).toBe("");
});
