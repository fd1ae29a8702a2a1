import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";

import { stopExchange } from "../../../src/store/records/exchanges/change.ts";
import { readExchange } from "../../../src/store/records/exchanges/read.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { openOn } from "../../helpers/graphs.ts";
import { openStoreAt } from "../../helpers/open-store.ts";

describeEngine("a graph that somebody else stops", (engine) => {
  it("[CLI-182] ends with what it had stored, and is continued by the next run", async () => {
    const { location, reprise, id } = await openOn(engine);
    await using store = await openStoreAt(location);
    const begun = Promise.withResolvers<void>();
    let waits = true;
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("wait", async (_, { signal }) => {
        begun.resolve();
        if (waits) {
          await new Promise((_, reject) => {
            signal?.addEventListener("abort", () => reject(signal.reason));
          });
        }
        return { messages: [new AIMessage("answered")] };
      })
      .addEdge(START, "wait")
      .compile();
    const running = reprise.run(id, graph, "a question");
    await begun.promise;
    await store.write(stopExchange, { reference: id, n: 1 });
    expect(await running).toMatchObject({ state: "stopped", answer: "" });
    const stopped = await store.read(readExchange, { reference: id, n: 1 });
    expect(stopped).toMatchObject({ state: "stopped", error_code: null });
    waits = false;
    expect(await reprise.run(id, graph, null)).toMatchObject({ state: "done", answer: "answered" });
  });
});
