import { AsyncLocalStorage } from "node:async_hooks";

import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";

import { scriptModel } from "../../helpers/checkpoints/script-model.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { echo, openOn } from "../../helpers/graphs.ts";
import { expectVerified } from "../../helpers/verified.ts";

/** A graph whose node does something and answers with its result. */
function around(work: () => Promise<string>) {
  return new StateGraph(MessagesAnnotation)
    .addNode("call", async () => ({ messages: [new AIMessage(await work())] }))
    .addEdge(START, "call");
}

function agentWith(work: () => Promise<string>) {
  const ask = tool(work, { name: "ask", description: "asks", schema: z.object({}) });
  const model = scriptModel({ "from outside": [[{ name: "ask", args: {} }], "asked"] });
  return createAgent({ tools: [ask], model });
}

describeEngine("run within a graph", (engine) => {
  it("[GRAPH-35] stores what it stores outside one", async () => {
    const { location, reprise, id } = await openOn(engine);
    const { id: outer } = await reprise.sessions.create();
    const request = new AsyncLocalStorage<string>();
    const inner = () => echo(() => expect(request.getStore()).toBe("mine")).compile();
    const run = async () => (await reprise.run(id, inner(), "in")).answer;
    const input = { messages: ["from outside"] };
    const thread = { configurable: { thread_id: "outer" } };
    const saved = around(run).compile({ checkpointer: new MemorySaver() });
    await request.run("mine", async () => {
      expect(await run()).toBe("in");
      await around(run).compile().invoke(input);
      await saved.invoke(input, thread);
      await agentWith(run).invoke(input);
      await reprise.run(outer, agentWith(run), "from outside");
    });
    const { messages, activity } = await reprise.sessions.get(id);
    const contents = messages.map(({ content }) => content);
    expect(messages.map(({ role }) => role)).toEqual(
      Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? "user" : "assistant")),
    );
    expect(contents.at(-1)).toBe(contents.slice(0, -1).join("|"));
    expect(activity).toBe("idle");
    expect((await saved.getState(thread)).values).toMatchObject({ messages: { length: 2 } });
    await expectVerified(location, id);
    await expectVerified(location, outer);
  });
});
