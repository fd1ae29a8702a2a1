import { AIMessage, HumanMessage, RemoveMessage, SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  REMOVE_ALL_MESSAGES,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { ProgramModel } from "../helpers/checkpoints/program-model.ts";
import { openSaver } from "../helpers/checkpoints/saver.ts";
import { TwinSaver } from "../helpers/checkpoints/twin-saver.ts";

const THREAD = "a thread";
const config = { configurable: { thread_id: THREAD }, durability: "sync" as const };

async function openTwin() {
  const opened = await openSaver();
  const other = createCheckpointSaver({ store: opened.store });
  return {
    twin: new TwinSaver([opened.saver, other]),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** Answers with how many messages it was sent; the ids make the same history the same messages. */
function counting(checkpointer: TwinSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode("answer", ({ messages }) => ({
      messages: [new AIMessage({ content: `after ${messages.length}` })],
    }))
    .addEdge(START, "answer")
    .addEdge("answer", END)
    .compile({ checkpointer });
}

const ask = (content: string, id?: string) => ({
  messages: [new HumanMessage({ content, ...(id === undefined ? {} : { id }) })],
});

describe("the saver, compared with MemorySaver", () => {
  it("reads the same after exchanges were appended", async () => {
    await using opened = await openTwin();
    const graph = counting(opened.twin);
    for (const text of ["one", "two", "three"]) {
      await graph.invoke(ask(text), config);
    }
    expect(await opened.twin.compareAll(THREAD)).toBe(9);
  });

  it("reads the same after a message was edited or removed, and after all were removed", async () => {
    await using opened = await openTwin();
    const graph = counting(opened.twin);
    await graph.invoke(ask("one", "first"), config);
    await graph.invoke(ask("two", "second"), config);
    await graph.updateState(config, ask("one, edited", "first"));
    await graph.invoke(ask("three"), config);
    await graph.updateState(config, { messages: [new RemoveMessage({ id: "second" })] });
    await graph.invoke(ask("four"), config);
    await graph.updateState(config, { messages: [new RemoveMessage({ id: REMOVE_ALL_MESSAGES })] });
    const { messages } = await graph.invoke(ask("five"), config);
    expect(messages.map((message) => message.text)).toEqual(["five", "after 1"]);
    await opened.twin.compareAll(THREAD);
  });

  it("reads the same after a summary, with a new id and with the first message's id", async () => {
    await using opened = await openTwin();
    const graph = counting(opened.twin);
    for (const id of ["new", undefined]) {
      await graph.invoke(ask("one"), config);
      const { messages } = await graph.invoke(ask("two"), config);
      const summary = new HumanMessage({
        content: "a summary",
        id: id ?? messages[0]!.id!,
        additional_kwargs: { lc_source: "summarization" },
      });
      await graph.updateState(config, {
        messages: [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), summary, ...messages.slice(-2)],
      });
      await graph.invoke(ask("three"), config);
    }
    await opened.twin.compareAll(THREAD);
  });

  it("reads the same after older checkpoints were forked and answers regenerated, repeatedly", async () => {
    await using opened = await openTwin();
    const graph = counting(opened.twin);
    for (let index = 0; index < 6; index += 1) {
      await graph.invoke(ask(`question ${index}`), config);
      const history = await Array.fromAsync(graph.getStateHistory(config));
      const before = history.find(({ next }) => next.includes("answer"))!;
      await graph.invoke(null, { ...before.config, durability: "sync" });
      const older = history[Math.min(history.length - 1, 4)]!;
      await graph.updateState(older.config, ask(`another ${index}`, `other-${index}`), "answer");
      await graph.invoke(ask("and on"), { ...older.config, durability: "sync" });
    }
    await opened.twin.compareAll(THREAD);
  });

  it("reads the same when a thread is forked deeper than lists may be nested", async () => {
    await using opened = await openTwin();
    const graph = counting(opened.twin);
    for (let index = 0; index < 20; index += 1) {
      await graph.invoke(ask(`question ${index}`, `q${index}`), config);
      await graph.updateState(config, ask(`question ${index}, edited`, `q${index}`));
    }
    await opened.twin.compareAll(THREAD);
  });

  it("reads the same when tools run in parallel and each is sent the whole history", async () => {
    await using opened = await openTwin();
    const add = tool(({ a, b }) => String(a + b), {
      name: "add",
      description: "adds",
      schema: z.object({ a: z.number(), b: z.number() }),
    });
    const model = new ProgramModel((messages) =>
      messages.at(-1)?.type === "human"
        ? new AIMessage({
            content: "",
            tool_calls: [1, 2, 3].map((a) => ({
              id: `c${messages.length}-${a}`,
              name: "add",
              args: { a, b: 1 },
            })),
          })
        : new AIMessage(`done after ${messages.length}`),
    );
    const agent = createAgent({ model, tools: [add], checkpointer: opened.twin });
    for (const text of ["one", "two", "three", "four"]) {
      await agent.invoke(ask(text), config);
    }
    await opened.twin.compareAll(THREAD);
  });

  it("reads the same when a graph is interrupted and resumed", async () => {
    await using opened = await openTwin();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", () => {
        const answer: unknown = interrupt({ question: "go on?" });
        return { messages: [new SystemMessage(`they said ${String(answer)}`)] };
      })
      .addEdge(START, "ask")
      .compile({ checkpointer: opened.twin });
    for (const answer of ["yes", "no"]) {
      await graph.invoke(ask("may I?"), config);
      await opened.twin.compareAll(THREAD);
      await graph.invoke(new Command({ resume: answer }), config);
    }
    await opened.twin.compareAll(THREAD);
  });

  it("reads the same when subgraphs keep their own checkpoints, nested", async () => {
    await using opened = await openTwin();
    const inner = new StateGraph(MessagesAnnotation)
      .addNode("deep", ({ messages }) => {
        const answer: unknown = interrupt("deep down?");
        return { messages: [new AIMessage(`${String(answer)} after ${messages.length}`)] };
      })
      .addEdge(START, "deep")
      .compile();
    const middle = new StateGraph(MessagesAnnotation)
      .addNode("inner", inner)
      .addEdge(START, "inner")
      .compile();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("middle", middle)
      .addEdge(START, "middle")
      .compile({ checkpointer: opened.twin });
    for (const text of ["one", "two"]) {
      await graph.invoke(ask(text), config);
      await graph.getState(config, { subgraphs: true });
      await graph.invoke(new Command({ resume: "resumed" }), config);
    }
    await opened.twin.compareAll(THREAD);
  });

  it("reads the same when the state holds maps, sets, errors, bytes, undefined, large values and odd keys", async () => {
    await using opened = await openTwin();
    const State = Annotation.Root({
      ...MessagesAnnotation.spec,
      odd: Annotation<unknown>(),
      list: Annotation<unknown[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const odd = [
      new Map<unknown, unknown>([["m", new HumanMessage({ content: "in a map", id: "m" })]]),
      new Set([1, undefined, new AIMessage({ content: "in a set", id: "s" })]),
      [new Error("broken"), /a+/gu, new Date(0), undefined],
      { $m: 0, $l: [1], $e: "e", nested: { $m: new AIMessage({ content: "kept", id: "k" }) } },
      { lc: 1, type: "constructor", id: ["x"], "a\0b": "\ud800" },
      { long: "x".repeat(1000), message: new HumanMessage({ content: "deep", id: "deep" }) },
      "y".repeat(5000),
    ];
    const graph = new StateGraph(State)
      .addNode("fill", ({ list }) => ({ odd: odd[list.length], list: [list.length] }))
      .addNode("fan", () => new Command({ goto: new Send("leaf", { many: odd.slice(0, 3) }) }), {
        ends: ["leaf"],
      })
      .addNode("leaf", () => ({}))
      .addEdge(START, "fill")
      .addEdge("fill", "fan")
      .compile({ checkpointer: opened.twin });
    for (const [index] of odd.entries()) {
      await graph.invoke(index === 4 ? { messages: [] } : ask(`${index}`), config);
    }
    await opened.twin.compareAll(THREAD);
  });
});
