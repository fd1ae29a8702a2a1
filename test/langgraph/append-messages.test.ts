import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { messagesStateReducer, REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import fc from "fast-check";
import { expect, it } from "vitest";

import { appendMessages } from "../../src/langgraph/append-messages.ts";
import { noteIds } from "../../src/langgraph/known-ids.ts";

type Right = Parameters<typeof messagesStateReducer>[1];

/** Few ids, so that many are there already; null for a message that has none yet. */
const id = fc.option(fc.nat({ max: 12 }).map(String), { freq: 4 });

/** How a message is made, so that each reducer gets separate messages. */
const message: fc.Arbitrary<() => unknown> = fc.oneof(
  { weight: 6, arbitrary: id.map((id) => () => new HumanMessage({ content: "h", ...idOf(id) })) },
  { weight: 3, arbitrary: id.map((id) => () => new AIMessage({ content: "a", ...idOf(id) })) },
  id.map((id) => () => new ToolMessage({ content: "t", tool_call_id: "c", ...idOf(id) })),
  id.map((id) => () => new RemoveMessage({ id: id ?? REMOVE_ALL_MESSAGES })),
  id.map((id) => () => ({ role: "user", content: "as an object", ...idOf(id) })),
  fc.constant(() => "as a text"),
);

function idOf(id: string | null): { id?: string } {
  return id === null ? {} : { id };
}

/** One step: what is added, in a list or alone, and to which of the lists so far. */
const step = fc.record({
  added: fc.array(message, { maxLength: 4 }),
  alone: fc.boolean(),
  onto: fc.nat({ max: 3 }),
  /** What somebody does to the list that came of it. */
  after: fc.constantFrom("nothing", "nothing", "push in place", "copy"),
});

it("gives the same as LangGraph's own reducer, for any messages in any order", () => {
  let appended = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.boolean(), (steps, noted) => {
      const start = (): BaseMessage[] => [new HumanMessage({ id: "0", content: "first" })];
      const ours = [start()];
      const theirs = [start()];
      if (noted) {
        // as a thread that was read: more ids are known than the list has
        noteIds(ours[0]!, new Set(["0", "3", "5"]));
      }
      for (const { added, alone, onto, after } of steps) {
        const from = Math.max(0, ours.length - 1 - onto);
        const make = () => {
          const made = added.map((one) => one());
          return (alone ? (made[0] ?? []) : made) as Right;
        };
        const mine = outcome(() => appendMessages(ours[from]!, make()));
        const other = outcome(() => messagesStateReducer(theirs[from]!, make()));
        expect(shown(mine)).toEqual(shown(other));
        if (Array.isArray(mine) && Array.isArray(other)) {
          appended += mine.length > ours[from]!.length ? 1 : 0;
          ours.push(changed(mine, after));
          theirs.push(changed(other, after));
        }
      }
    }),
    { numRuns: 400 },
  );
  expect(appended).toBeGreaterThan(100);
});

it("gives a message without an id one, and does not change the list that it adds to", () => {
  const left = [new HumanMessage({ id: "1", content: "one" })];
  const message = new AIMessage("two");
  const once = appendMessages(left, [message]);
  // a router reads what a step would give before the step is taken
  const twice = appendMessages(left, [message]);
  expect(left).toHaveLength(1);
  expect(message.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(message.lc_kwargs["id"]).toBe(message.id);
  expect([once, twice].map((list) => list.map(({ id }) => id))).toEqual([
    ["1", message.id],
    ["1", message.id],
  ]);
});

function changed(list: BaseMessage[], after: string): BaseMessage[] {
  if (after === "copy") {
    return [...list];
  }
  if (after === "push in place") {
    list.push(new HumanMessage({ id: "7", content: "pushed" }));
  }
  return list;
}

function outcome(reduce: () => BaseMessage[]): BaseMessage[] | string {
  try {
    return reduce();
  } catch (error) {
    return String(error);
  }
}

/** Ids that a reducer makes up differ. */
function shown(outcome: BaseMessage[] | string): unknown {
  if (typeof outcome === "string") {
    return outcome;
  }
  return outcome.map(({ id, type, text }) => [(id ?? "").length > 3 ? "made up" : id, type, text]);
}
