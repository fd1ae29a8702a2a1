import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";

import { RepriseSaver } from "../../../src/langgraph/reprise-saver.ts";
import { OUTCOME_UNKNOWN } from "../../../src/core/text/outcome-unknown.ts";
import { scriptModel } from "../../helpers/checkpoints/script-model.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { openOn } from "../../helpers/graphs.ts";
import { expectVerified } from "../../helpers/verified.ts";

const schema = z.object({});

/** Tools that count their runs. `pay` never ends while `isStuck`, so that it can be stopped. */
function tools() {
  const runs = { pay: 0, look: 0 };
  const world = { isStuck: true, started: Promise.withResolvers<void>() };
  const pay = tool(
    async () => {
      runs.pay += 1;
      world.started.resolve();
      await (world.isStuck ? new Promise(() => {}) : null);
      return "paid";
    },
    { name: "pay", description: "pays", schema },
  );
  const look = tool(
    () => {
      runs.look += 1;
      return "seen";
    },
    { name: "look", description: "looks", schema },
  );
  return { runs, world, all: [pay, look] };
}

const script = () =>
  scriptModel({
    "pay it": [
      [
        { name: "pay", args: {} },
        { name: "look", args: {} },
      ],
      "Done.",
    ],
    "look at it": [[{ name: "look", args: {} }], "Looked."],
    never: ["Never mind."],
  });

type Tools = ReturnType<typeof tools>["all"];

const KINDS = {
  createAgent: (all: Tools) => createAgent({ model: script(), tools: all }),
  "createReactAgent v1": (all: Tools) =>
    createReactAgent({ llm: script(), tools: all, version: "v1" }),
  "createReactAgent v2": (all: Tools) =>
    createReactAgent({ llm: script(), tools: all, version: "v2" }),
  StateGraph: (all: Tools) => plainGraph(all).compile(),
};

function plainGraph(all: Tools) {
  const model = script();
  const acts = new ToolNode(all);
  return new StateGraph(MessagesAnnotation)
    .addNode("think", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode("act", async (state) => acts.invoke(state))
    .addEdge(START, "think")
    .addConditionalEdges("think", ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? "act" : END,
    )
    .addEdge("act", "think");
}

describeEngine("an interrupted graph", (engine) => {
  it.each(Object.entries(KINDS))(
    "[GRAPH-10] [GRAPH-12] [GRAPH-17] never repeats an unsafe call without a yes: %s",
    async (_, make) => {
      const { location, reprise, id } = await openOn(engine);
      const { runs, world, all } = tools();
      const stop = new AbortController();
      const running = reprise.run(id, make(all), "pay it", { signal: stop.signal });
      await world.started.promise;
      stop.abort();
      expect(await running).toMatchObject({ state: "stopped", answer: "" });
      expect(runs.pay).toBe(1);
      const before = { ...runs };
      world.isStuck = false;
      const result = await reprise.run(id, make(all), null);
      expect(result).toMatchObject({ state: "done", answer: "Done." });
      expect(runs.pay).toBe(before.pay);
      const { messages } = await reprise.sessions.get(id);
      expect(messages.map(({ role }) => role)).toEqual([
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
      ]);
      expect(messages.map(({ content }) => content)).toContain(OUTCOME_UNKNOWN);
      await expectVerified(location, id);
    },
  );

  it("[GRAPH-11] repeats the calls that the agent names, and with a yes all of them", async () => {
    const { location, reprise, id } = await openOn(engine);
    for (const allowed of [{ repeatable: ["pay"] }, { repeats: "always" as const }]) {
      const { runs, world, all } = tools();
      const stop = new AbortController();
      const graph = KINDS.createAgent(all);
      const running = reprise.run(id, graph, "pay it", { signal: stop.signal });
      await world.started.promise;
      stop.abort();
      await running;
      world.isStuck = false;
      await reprise.run(id, graph, null, allowed);
      expect(runs.pay).toBe(2);
    }
    await expectVerified(location, id);
  });

  it("[GRAPH-13] gives open calls a result before a new message", async () => {
    const { location, reprise, id } = await openOn(engine);
    const { runs, world, all } = tools();
    const stop = new AbortController();
    const running = reprise.run(id, KINDS.createAgent(all), "pay it", { signal: stop.signal });
    await world.started.promise;
    stop.abort();
    await running;
    const { messages } = await reprise.run(id, KINDS.createAgent(all), "never");
    expect(runs.pay).toBe(1);
    expect(messages.map(({ role }) => role)).toEqual(["tool", "tool", "user", "assistant"]);
    await expectVerified(location, id);
  });

  it("[GRAPH-14] keeps what runs beside a closed call", async () => {
    const { location, reprise, id } = await openOn(engine);
    const { runs, world, all } = tools();
    const State = Annotation.Root({
      ...MessagesAnnotation.spec,
      notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    let noted = 0;
    const graph = new StateGraph(State)
      .addNode("call", () => ({
        messages: [
          new AIMessage({ content: "", tool_calls: [{ id: "1", name: "pay", args: {} }] }),
        ],
      }))
      .addNode("act", new ToolNode(all))
      .addNode("note", async () => {
        noted += 1;
        await (world.isStuck ? new Promise(() => {}) : null);
        return { notes: ["noted"] };
      })
      .addNode("end", ({ notes }) => ({ messages: [new AIMessage(notes.join())] }))
      .addEdge(START, "call")
      .addEdge("call", "act")
      .addEdge("call", "note")
      .addEdge(["act", "note"], "end")
      .compile();
    const stop = new AbortController();
    const running = reprise.run(id, graph, "go", { signal: stop.signal });
    await world.started.promise;
    stop.abort();
    await running;
    world.isStuck = false;
    expect(await reprise.run(id, graph, null)).toMatchObject({ state: "done", answer: "noted" });
    expect([runs.pay, noted]).toEqual([1, 2]);
    await expectVerified(location, id);
  });

  it("[GRAPH-15] waits for a person with what the graph asks, and continues with a Command", async () => {
    const { location, reprise, id } = await openOn(engine);
    const { runs, world, all } = tools();
    world.isStuck = false;
    const graph = createAgent({
      model: script(),
      tools: all,
      middleware: [humanInTheLoopMiddleware({ interruptOn: { pay: true } })],
    });
    const asked = await reprise.run(id, graph, "pay it");
    expect(asked).toMatchObject({
      state: "waiting",
      interrupts: [{ value: { actionRequests: [{ name: "pay" }] } }],
    });
    expect(asked.session.activity).toBe("interrupted");
    expect(await reprise.run(id, graph, null)).toMatchObject({ state: "waiting" });
    expect(runs.pay).toBe(0);
    const answer = new Command({ resume: { decisions: [{ type: "approve" }] } });
    expect(await reprise.run(id, graph, answer)).toMatchObject({ state: "done", answer: "Done." });
    expect(runs.pay).toBe(1);
    await expect(reprise.run(id, graph, answer)).rejects.toMatchObject({
      code: "nothing_to_continue",
    });
    await expectVerified(location, id);
  });

  it("[GRAPH-15] [GRAPH-10] closes an unsafe call beside a question, and keeps the question", async () => {
    const { location, reprise, id } = await openOn(engine);
    const { runs, world, all } = tools();
    const ask = tool(() => String(interrupt("really?")), {
      name: "ask",
      description: "asks",
      schema,
    });
    const model = scriptModel({
      both: [
        [
          { name: "pay", args: {} },
          { name: "ask", args: {} },
        ],
        "Done.",
      ],
    });
    const graph = createAgent({ model, tools: [ask, ...all] });
    const stop = new AbortController();
    const running = reprise.run(id, graph, "both", { signal: stop.signal });
    await world.started.promise;
    await using saver = new RepriseSaver(location);
    await expect
      .poll(async () => {
        const tuple = await saver.getTuple({ configurable: { thread_id: `${id}:0` } });
        return tuple?.pendingWrites?.map(([, channel]) => channel);
      })
      .toContain("__interrupt__");
    stop.abort();
    await running;
    world.isStuck = false;
    expect(await reprise.run(id, graph, null)).toMatchObject({
      state: "waiting",
      interrupts: [{ value: "really?" }],
    });
    const done = await reprise.run(id, graph, new Command({ resume: "yes" }));
    expect(done).toMatchObject({ state: "done", answer: "Done." });
    expect(runs.pay).toBe(1);
    expect((await reprise.sessions.get(id)).messages.map(({ content }) => content)).toEqual([
      "both",
      "",
      OUTCOME_UNKNOWN,
      "yes",
      "Done.",
    ]);
    await expectVerified(location, id);
  });

  it("[GRAPH-16] leaves calls open that a finished graph leaves to its caller", async () => {
    const { location, reprise, id } = await openOn(engine);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("say", ({ messages }) => ({
        messages: [
          messages.some((message) => ToolMessage.isInstance(message))
            ? new AIMessage("thanks")
            : new AIMessage({ content: "", tool_calls: [{ id: "1", name: "page", args: {} }] }),
        ],
      }))
      .addEdge(START, "say")
      .compile();
    expect(await reprise.run(id, graph, "hi")).toMatchObject({ state: "done" });
    const result = new ToolMessage({ tool_call_id: "1", content: "clicked" });
    const { messages } = await reprise.run(id, graph, result);
    expect(messages.map(({ content }) => content)).toEqual(["clicked", "thanks"]);
    await expectVerified(location, id);
  });
});
