import { setImmediate } from "node:timers/promises";

import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  entrypoint,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createAgent } from "langchain";
import { expect, it } from "vitest";

import type { ExchangeEvent } from "../../../src/exchange/events.ts";
import { scriptModel } from "../../helpers/checkpoints/script-model.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { clock, echo, openOn } from "../../helpers/graphs.ts";
import { expectVerified } from "../../helpers/verified.ts";

function watch() {
  return createAgent({
    name: "watch",
    tools: [clock],
    model: scriptModel({
      "what time is it?": [[{ name: "clock", args: {} }], "It is 12:00."],
      hello: ["Hello."],
    }),
  });
}

describeEngine("run", (engine) => {
  it("[GRAPH-1] [GRAPH-4] [GRAPH-8] keeps the exchanges of an agent that is not ours, message by message", async () => {
    const { location, reprise, id } = await openOn(engine);
    const events: ExchangeEvent[] = [];
    const result = await reprise.run(id, watch(), "what time is it?", {
      onEvent: (event) => void events.push(event),
    });
    expect(result).toMatchObject({ state: "done", answer: "It is 12:00.", interrupts: [] });
    expect(result.session).toMatchObject({ title: "what time is it?", activity: "idle" });
    expect(result.messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "what time is it?"],
      ["assistant", ""],
      ["tool", "12:00"],
      ["assistant", "It is 12:00."],
    ]);
    expect(events.map(({ type }) => type)).toEqual([
      "started",
      "message",
      "tool_call",
      "message",
      "tool_result",
      "message",
      "text",
      "message",
      "done",
    ]);
    const again = await reprise.run(id, watch(), "hello");
    expect(again.messages.map(({ seq }) => seq)).toEqual([5, 6]);
    expect((await reprise.sessions.get(id)).messages).toHaveLength(6);
    await expectVerified(location, id);
  });

  it("[GRAPH-5] takes messages, updates of the state and messages that were appended", async () => {
    const { location, reprise, id } = await openOn(engine);
    const Notes = Annotation.Root({
      ...MessagesAnnotation.spec,
      note: Annotation<string>({ reducer: (_, note) => note, default: () => "" }),
    });
    const graph = new StateGraph(Notes)
      .addNode("say", ({ messages, note }) => ({
        messages: [new AIMessage(`${messages.map(({ text }) => text).join(",")};${note}`)],
      }))
      .addEdge(START, "say")
      .compile();
    await reprise.sessions.append(id, "a");
    const message = new HumanMessage("b");
    await reprise.run(id, graph, message);
    expect(message.id).toBeUndefined();
    await reprise.run(id, graph, [{ role: "user", content: "c" }, message]);
    const { answer } = await reprise.run(id, graph, { messages: ["d"], note: "noted" });
    expect(answer).toBe("a,b,a,b;,c,b,a,b,a,b;,c,b;,d;noted");
    await reprise.sessions.append(id, "e");
    expect((await reprise.run(id, graph, null)).messages.map(({ content }) => content)).toEqual([
      `a,b,a,b;,c,b,a,b,a,b;,c,b;,d,${answer},e;noted`,
    ]);
    const { messages } = await reprise.sessions.get(id);
    expect(messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
      "a",
      "b",
      "c",
      "b",
      "d",
      "e",
    ]);
    await expect(reprise.run(id, graph, null)).rejects.toMatchObject({
      code: "nothing_to_continue",
    });
    await expectVerified(location, id);
  });

  it("[GRAPH-2] refuses a graph that a session cannot hold, before anything is stored", async () => {
    const { reprise, id } = await openOn(engine);
    const counter = new StateGraph(Annotation.Root({ count: Annotation<number> }))
      .addNode("add", ({ count }) => ({ count: count + 1 }))
      .addEdge(START, "add");
    const workflow = entrypoint("workflow", async (text: string) => text);
    const unsuitable = [
      counter.compile(),
      echo().compile({ checkpointer: new MemorySaver() }),
      workflow,
      echo(),
      () => echo().compile({ checkpointer: new MemorySaver() }),
      () => Promise.resolve({}),
      {},
    ];
    for (const graph of unsuitable) {
      await expect(reprise.run(id, graph as never, "hi")).rejects.toMatchObject({
        code: "graph_unsuitable",
      });
    }
    expect(await reprise.sessions.get(id)).toMatchObject({ last_seq: 0, activity: "idle" });
  });

  it("[GRAPH-3] leaves the caller's graph as it was, and gives a function the checkpointer", async () => {
    const { reprise, id } = await openOn(engine);
    const graph = echo().compile();
    await reprise.run(id, graph, "one");
    expect(graph.checkpointer).toBeUndefined();
    const result = await reprise.run(
      id,
      async (checkpointer) => echo().compile({ checkpointer }),
      "two",
    );
    expect(result.answer).toBe("one|one|two");
    const { answer } = await reprise.run(id, () => echo().compile(), "three");
    expect(answer).toBe("one|one|two|one|one|two|three");
  });

  it("[GRAPH-6] gives a graph messages that it may change in place", async () => {
    const { location, reprise, id } = await openOn(engine);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("shout", ({ messages }: { messages: BaseMessage[] }) => {
        for (const message of messages) {
          message.content = message.text.toUpperCase();
        }
        return { messages: [...messages, new AIMessage("done")] };
      })
      .addEdge("shout", END)
      .addEdge(START, "shout")
      .compile();
    await reprise.run(id, graph, "one");
    await reprise.run(id, graph, "two");
    const { messages } = await reprise.sessions.get(id);
    expect(messages.map(({ content }) => content)).toEqual(["ONE", "DONE", "TWO", "done"]);
    await expectVerified(location, id);
  });

  it("[GRAPH-7] reports what fails in the agent's own code, and continues after it", async () => {
    const { location, reprise, id } = await openOn(engine);
    let isBroken = true;
    const graph = echo(() => {
      if (isBroken) {
        throw new TypeError("secret");
      }
    }).compile();
    const failed = reprise.run(id, graph, "hi");
    await expect(failed).rejects.toMatchObject({
      code: "agent_failed",
      message: expect.not.stringContaining("secret") as string,
      cause: expect.any(TypeError) as TypeError,
    });
    expect(await reprise.sessions.get(id)).toMatchObject({ last_seq: 1, activity: "interrupted" });
    isBroken = false;
    expect(await reprise.run(id, graph, null)).toMatchObject({ state: "done", answer: "hi" });
    await expectVerified(location, id);
  });

  it("[GRAPH-43] says of a value of the state that it cannot be stored", async () => {
    const { reprise, id } = await openOn(engine);
    const Counted = Annotation.Root({ ...MessagesAnnotation.spec, count: Annotation<unknown>() });
    const graph = new StateGraph(Counted)
      .addNode("add", () => ({ count: 5n }))
      .addEdge(START, "add")
      .compile();
    await expect(reprise.run(id, graph, "hi")).rejects.toMatchObject({
      code: "agent_failed",
      message: expect.stringContaining("such as a bigint") as string,
      cause: expect.any(TypeError) as TypeError,
    });
  });

  it("[GRAPH-41] continues if the listener throws, whose error is an uncaught exception", async () => {
    const { location, reprise, id } = await openOn(engine);
    const uncaught: unknown[] = [];
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", (error) => uncaught.push(error));
    const thrown: Error[] = [];
    const onEvent = ({ type }: ExchangeEvent) => {
      thrown.push(new Error(type));
      throw thrown.at(-1);
    };
    try {
      const { state, answer } = await reprise.run(id, echo().compile(), "hi", { onEvent });
      expect([state, answer]).toEqual(["done", "hi"]);
      await setImmediate();
    } finally {
      process.removeAllListeners("uncaughtException");
      others.forEach((listener) => process.on("uncaughtException", listener));
    }
    expect(thrown.map(({ message }) => message).at(-1)).toBe("done");
    expect(uncaught).toEqual(thrown);
    await expectVerified(location, id);
  });

  it("[GRAPH-39] reports what the function that makes the graph throws", async () => {
    const { reprise, id } = await openOn(engine);
    const cause = new TypeError("mine");
    const failing = [
      () => {
        throw cause;
      },
      () => Promise.reject(cause),
    ];
    for (const graph of failing) {
      const failed = reprise.run(id, graph, "hi");
      await expect(failed).rejects.toMatchObject({ code: "agent_failed", cause });
    }
    expect(await reprise.sessions.get(id)).toMatchObject({ last_seq: 0, activity: "idle" });
  });

  it("[GRAPH-9] keeps a session for the agent that began its context", async () => {
    const { location, reprise, id } = await openOn(engine);
    await reprise.run(id, watch(), "hello");
    await expect(reprise.run(id, echo().compile(), "hi", { agent: "echo" })).rejects.toMatchObject({
      code: "agent_differs",
    });
    expect(await reprise.sessions.get(id)).toMatchObject({ last_seq: 2, activity: "idle" });
    const fresh = await reprise.run(id, echo().compile(), "hi", { fresh: true, agent: "echo" });
    expect(fresh).toMatchObject({ answer: "hi", thread_id: `${id}:1` });
    await expect(reprise.run(id, watch(), "hello")).rejects.toMatchObject({
      code: "agent_differs",
      message: expect.stringContaining('`agent: "echo"`') as string,
    });
    await expectVerified(location, id);
  });

  it("[GRAPH-21] keeps the session's name if the graph has none", async () => {
    const { reprise, id } = await openOn(engine);
    const agents: unknown[] = [];
    const onEvent = (event: ExchangeEvent) => {
      if (event.type === "started") {
        agents.push(event.agent);
      }
    };
    await reprise.run(id, echo().compile(), "one", { agent: "billing", onEvent });
    await reprise.run(id, echo().compile(), "two", { onEvent });
    await reprise.run(id, echo().compile(), "three", { fresh: true, onEvent });
    const { id: other } = await reprise.sessions.create();
    await reprise.run(other, echo().compile(), "one", { onEvent });
    expect(agents).toEqual(["billing", "billing", "billing", "agent"]);
  });
});
