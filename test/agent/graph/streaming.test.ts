import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { expect, it } from "vitest";
import { z } from "zod";

import type { ExchangeEvent } from "../../../src/exchange/events.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { openOn } from "../../helpers/graphs.ts";

/** Writes a text letter by letter. */
const writer = (text: string) => new FakeListChatModel({ responses: [text] });

describeEngine("a graph whose models write", (engine) => {
  it("[GRAPH-8] reports text as it arrives and once, and none of silent models and of tools", async () => {
    const { reprise, id } = await openOn(engine);
    const ask = tool(async () => (await writer("inner").invoke("x")).text, {
      name: "ask",
      description: "asks",
      schema: z.object({}),
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("route", async () => {
        await writer("silent")
          .withConfig({ tags: ["nostream"] })
          .invoke("x");
        const tool_calls = [{ id: "1", name: "ask", args: {} }];
        return { messages: [new AIMessage({ content: "", tool_calls })] };
      })
      .addNode("tools", new ToolNode([ask]))
      .addNode("answer", async () => ({ messages: [await writer("first").invoke("x")] }))
      // stored under another id than the one that it arrived with
      .addNode("again", async () => {
        const { text } = await writer("second").invoke("x");
        return { messages: [new AIMessage(text)] };
      })
      .addEdge(START, "route")
      .addEdge("route", "tools")
      .addEdge("tools", "answer")
      .addEdge("answer", "again")
      .compile();
    const events: ExchangeEvent[] = [];
    const { messages } = await reprise.run(id, graph, "go", {
      onEvent: (event) => void events.push(event),
    });
    const texts = events.flatMap((event) => (event.type === "text" ? [event] : []));
    expect(texts).toHaveLength("firstsecond".length);
    expect(texts.map(({ text }) => text).join("")).toBe("firstsecond");
    const first = events.findIndex((event) => event.type === "text");
    const stored = events.find(
      (event) => event.type === "message" && event.seq === messages.at(-2)?.seq,
    );
    expect(stored).toMatchObject({ message_id: texts[0]?.message_id });
    expect(events.indexOf(stored ?? events[0]!)).toBeGreaterThan(first);
    expect(events.find(({ type }) => type === "tool_result")).toMatchObject({
      name: "ask",
      content: "inner",
    });
    expect(messages.map(({ content }) => content)).toEqual(["go", "", "inner", "first", "second"]);
  });
});
