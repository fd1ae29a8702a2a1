import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import {
  MessagesValue,
  ReducedValue,
  REMOVE_ALL_MESSAGES,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import fc from "fast-check";
import { expect, it } from "vitest";

import { appendMessages } from "../../src/langgraph/append-messages.ts";
import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { holdSession, openSaver } from "../helpers/checkpoints/saver.ts";
import { TwinSaver } from "../helpers/checkpoints/twin-saver.ts";
import { testSize } from "../helpers/size.ts";

/** What can happen to a thread; `at` picks a checkpoint or a message. */
type Action =
  | { readonly do: "exchange"; readonly text: string; readonly count: number }
  | { readonly do: "branch" | "regenerate" | "edit-older"; readonly at: number }
  | { readonly do: "edit" | "remove" | "touch"; readonly at: number }
  | { readonly do: "clear" | "summarise" };

const place = fc.nat({ max: 40 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("exchange" as const),
      text: fc.string({ maxLength: 20, unit: "grapheme" }),
      count: fc.integer({ min: 1, max: 12 }),
    }),
  },
  fc.record({ do: fc.constantFrom("branch", "regenerate", "edit-older"), at: place }),
  fc.record({ do: fc.constantFrom("edit", "remove", "touch"), at: place }),
  fc.record({ do: fc.constantFrom("clear", "summarise") }),
);

const thread = { thread_id: "random" };
const config = { configurable: thread, durability: "sync" as const };

/** The messages of a thread as the agent has them. */
const STATE = new StateSchema({
  messages: new ReducedValue(MessagesValue.valueSchema, {
    inputSchema: MessagesValue.inputSchema,
    reducer: appendMessages,
  }),
});

function openGraph(checkpointer: TwinSaver) {
  return new StateGraph(STATE)
    .addNode("look", () => ({}))
    .addNode("answer", ({ messages }) => ({
      messages: [new AIMessage({ content: `after ${messages.length}` })],
    }))
    .addEdge(START, "look")
    .addEdge("look", "answer")
    .compile({ checkpointer });
}

type Graph = ReturnType<typeof openGraph>;

async function carryOut(graph: Graph, action: Action): Promise<void> {
  const history = await Array.fromAsync(graph.getStateHistory(config));
  const messages: BaseMessage[] = history[0]?.values.messages ?? [];
  switch (action.do) {
    case "exchange":
      await graph.invoke(
        { messages: Array.from({ length: action.count }, () => new HumanMessage(action.text)) },
        config,
      );
      return;
    case "branch":
    case "regenerate":
    case "edit-older": {
      const older = history[action.at % Math.max(history.length, 1)];
      if (older === undefined) {
        return;
      }
      const input = action.do === "branch" ? { messages: [new HumanMessage("branch")] } : null;
      if (action.do === "edit-older") {
        await graph.updateState(older.config, { messages: [new AIMessage("put in")] }, "answer");
      } else if (input !== null || older.next.length > 0) {
        await graph.invoke(input, { ...older.config, durability: "sync" });
      }
      return;
    }
    case "edit":
    case "remove":
    case "touch": {
      const message = messages[action.at % Math.max(messages.length, 1)];
      if (message?.id !== undefined) {
        await graph.updateState(config, { messages: [changed(message, message.id, action.do)] });
      }
      return;
    }
    case "clear":
      await graph.updateState(config, {
        messages: [new RemoveMessage({ id: REMOVE_ALL_MESSAGES })],
      });
      return;
    case "summarise":
      await graph.updateState(config, {
        messages: [
          new RemoveMessage({ id: REMOVE_ALL_MESSAGES }),
          new HumanMessage(`summary of ${messages.length}`),
          ...messages.slice(-3),
        ],
      });
  }
}

function changed(message: BaseMessage, id: string, how: "edit" | "remove" | "touch"): BaseMessage {
  if (how === "remove") {
    return new RemoveMessage({ id });
  }
  if (how === "edit" || Object.isFrozen(message)) {
    return new HumanMessage({ id, content: `edited ${message.text}`.slice(0, 40) });
  }
  // in place, as middleware does: the object is the one that was read
  message.additional_kwargs["touched"] = { times: 1 };
  return message;
}

it.each([
  { reader: "a saver without a lease", shared: false },
  { reader: "an exchange, with shared messages", shared: true },
])(
  "reads the same as MemorySaver after random operations, from every process: $reader",
  async (how) => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 2, maxLength: 14 }), async (actions) => {
        await using opened = await openSaver();
        const both = [opened.saver, createCheckpointSaver({ store: opened.store })];
        const fence = await holdSession(opened.store);
        const twin = new TwinSaver(how.shared ? both.map((saver) => saver.holding(fence)) : both);
        const graph = openGraph(twin);
        for (const action of actions) {
          await carryOut(graph, action);
        }
        const cold = createCheckpointSaver({ store: opened.store });
        const fresh = new TwinSaver([cold], twin.memory);
        expect(await twin.compareAll(thread.thread_id)).toBe(
          await fresh.compareAll(thread.thread_id),
        );
      }),
      { numRuns: testSize("threads") },
    );
  },
);
