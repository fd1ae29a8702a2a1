import { AIMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";

import { threadId } from "../../src/core/threads.ts";
import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { searchMessages } from "../../src/store/search.ts";
import type { Store } from "../../src/store/store.ts";
import { leasedStore } from "../helpers/checkpoints/leased-store.ts";
import { describeEngines, newSession, openFresh } from "../helpers/engines.ts";
import { contentsOf, expectSound } from "../helpers/sessions/forks.ts";

async function talkedGraph(store: Store) {
  const { id } = await newSession(store);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", () => ({ messages: [new AIMessage("answered")] }))
    .addEdge(START, "answer")
    .compile({ checkpointer: createCheckpointSaver({ store: leasedStore(store) }) });
  const config = { configurable: { thread_id: threadId(id, 0) }, durability: "sync" as const };
  await graph.invoke({ messages: [new HumanMessage({ id: "q", content: "original" })] }, config);
  const { config: earlier } = await graph.getState(config);
  return { id, graph, config, earlier };
}

async function isFound(store: Store, query: string): Promise<boolean> {
  const { results } = await searchMessages(store, { query, limit: 9 });
  return results.some(({ seq }) => seq !== null);
}

describeEngines("branches from an earlier checkpoint", (engine) => {
  it("[FORK-20] show its messages as it has them, and find them by their texts", async () => {
    const store = await openFresh(engine);
    const { id, graph, config, earlier } = await talkedGraph(store);
    const edited = new HumanMessage({ id: "q", content: "rewritten" });
    const later = await graph.updateState(config, { messages: [edited] });
    expect(await isFound(store, "rewritten")).toBe(true);
    // a state without messages continues the checkpoint, too
    await graph.updateState(earlier, {}, "answer");
    expect(await contentsOf(store, id)).toEqual(["1 user original", "2 assistant answered"]);
    expect([await isFound(store, "original"), await isFound(store, "rewritten")]).toEqual([
      true,
      false,
    ]);
    await expectSound(store, id);
    await graph.invoke({ messages: [new HumanMessage("another way")] }, later);
    expect(await contentsOf(store, id)).toEqual([
      "1 user rewritten",
      "2 assistant answered",
      "3 user another way",
      "4 assistant answered",
    ]);
    await expectSound(store, id);
  });

  it("[FORK-20] keep a summary apart from the message whose id it took, whichever the thread has", async () => {
    const store = await openFresh(engine);
    const { id, graph, config, earlier } = await talkedGraph(store);
    const summary = new HumanMessage({
      id: "q",
      content: "all so far",
      additional_kwargs: { lc_source: "summarization" },
    });
    const after = await graph.updateState(config, {
      messages: [new RemoveMessage({ id: "q" }), summary],
    });
    const rows = ["1 user original", "2 assistant answered", "3 user all so far"];
    for (const from of [earlier, after, earlier]) {
      await graph.updateState(from, {}, "answer");
      expect(await contentsOf(store, id)).toEqual(rows);
      await expectSound(store, id);
    }
  });
});
