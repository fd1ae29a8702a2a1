import { expect, it } from "vitest";

import type { LiveEvent } from "../../../src/entries/client.ts";
import { addRead, hearThought, type Thought } from "../../../web/streams/thoughts.ts";

function heard(...events: readonly (readonly [LiveEvent["event"], object])[]) {
  const thoughts = new Map<string, Thought>();
  for (const [event, data] of events) {
    hearThought(thoughts, { id: "1", event, data } as LiveEvent);
  }
  return thoughts;
}

it("[PAGE-142] joins what the model thinks of an answer until it writes", () => {
  const thinking = heard(
    ["reasoning", { message_id: "a", text: "let me " }],
    ["reasoning", { message_id: "a", text: "see" }],
  );
  expect(thinking.get("a")).toMatchObject({ text: "let me see", ms: null });
  hearThought(thinking, { id: "1", event: "text", data: { message_id: "a" } } as LiveEvent);
  expect(thinking.get("a")?.ms).toEqual(expect.any(Number));
});

it("[PAGE-142] begins with what a connection finds, and drops that of an answer which is void", () => {
  const snapshot = { reasoning: { message_id: "a", text: "let me" } };
  expect(heard(["snapshot", snapshot], ["snapshot", snapshot]).get("a")?.text).toBe("let me");
  expect(heard(["snapshot", snapshot], ["reset", { message_id: "a" }]).size).toBe(0);
});

it("[PAGE-146] keeps what was heard of an answer, and has what was read of others", () => {
  const thoughts = heard(["reasoning", { message_id: "a", text: "let me see" }]);
  const read = (message_id: string, text: string, more = {}) => ({
    seq: 2,
    message_id,
    text,
    bytes: text.length,
    is_hidden: false,
    ...more,
  });
  addRead(thoughts, [
    read("a", "let me"),
    read("b", "cut", { bytes: 9 }),
    read("c", "", { is_hidden: true }),
  ]);
  expect(thoughts.get("a")).toMatchObject({ text: "let me see", source: "heard" });
  expect(thoughts.get("b")).toMatchObject({ text: "cut…", source: "read", ms: null });
  expect(thoughts.get("c")).toMatchObject({ text: "", isHidden: true });
  hearThought(thoughts, { id: "1", event: "message", data: { message_id: "b" } } as LiveEvent);
  expect(thoughts.get("b")?.ms).toBeNull();
});
