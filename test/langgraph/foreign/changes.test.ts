import { AIMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { describe, expect } from "vitest";

import { itBehavesTheSame } from "../../helpers/checkpoints/same-behaviour.ts";

const ask = (content: string, id: string) => ({ messages: [new HumanMessage({ content, id })] });
const say = (content: string, id: string) => new AIMessage({ content, id });

const STATE = Annotation.Root({
  ...MessagesAnnotation.spec,
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  note: Annotation<string>,
});

/** Two steps, the second of which says how much came before. */
function steps(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(STATE)
    .addNode("look", ({ messages }) => ({ log: [`saw ${messages.length}`] }))
    .addNode("answer", ({ messages, note }) => ({
      messages: [say(`after ${messages.length}: ${note}`, `a${messages.length}`)],
      note: `note ${messages.length}`,
    }))
    .addEdge(START, "look")
    .addEdge("look", "answer")
    .compile({ checkpointer });
}

describe("[SAVER-40] changed states of any graph", () => {
  itBehavesTheSame(
    "bulkUpdateState, several updates of several nodes in each step",
    async (run) => {
      const graph = steps(run.saver);
      await run.send(graph, ask("one", "q1"));
      const config = await graph.bulkUpdateState(run.config, [
        {
          updates: [
            { values: { messages: [say("from look", "l1")], log: ["bulk"] }, asNode: "look" },
            { values: { messages: [say("from answer", "a9")], note: "bulk" }, asNode: "answer" },
          ],
        },
        { updates: [{ values: { messages: [new RemoveMessage({ id: "q1" })] }, asNode: "look" }] },
      ]);
      run.note({ config });
      await run.state(graph);
      await run.send(graph, null);
      await graph.bulkUpdateState(run.config, [
        { updates: [{ values: ask("input", "q2"), asNode: "__input__" }] },
      ]);
      await run.send(graph, null);
      await graph.bulkUpdateState(run.config, [{ updates: [{ values: null, asNode: "__end__" }] }]);
      await graph.bulkUpdateState(run.config, [
        { updates: [{ values: null, asNode: "__copy__" }] },
      ]);
      await run.state(graph);
      await run.history(graph);
    },
  );

  itBehavesTheSame("time travel: each checkpoint replayed, forked and changed", async (run) => {
    const graph = steps(run.saver);
    await run.send(graph, ask("one", "q1"));
    await run.send(graph, ask("two", "q2"));
    const history = await run.history(graph);
    for (const [index, { config, next }] of history.entries()) {
      if (next.length > 0) {
        await run.send(graph, null, config);
      }
      await run.send(graph, ask(`fork ${index}`, `f${index}`), config);
      const edited = { messages: [new HumanMessage({ content: "edited", id: "q1" })], note: "n" };
      const changed = await graph.updateState(config, edited, index % 2 === 0 ? "look" : "answer");
      await run.send(graph, null, changed);
    }
    expect((await run.history(graph)).length).toBeGreaterThan(run.durability === "exit" ? 6 : 30);
  });

  itBehavesTheSame("parallel tasks, one of which asks, while the state is updated", async (run) => {
    const ran: string[] = [];
    const graph = new StateGraph(STATE)
      .addNode("plan", () => ({}))
      .addNode("work", ({ name }: { name: string }) => {
        const answer: unknown = name === "b" ? interrupt(name) : "done";
        ran.push(name);
        return { log: [`${name} ${String(answer)}`], messages: [say(name, name)] };
      })
      .addNode("report", ({ log }) => ({ messages: [say(log.join(), `report ${log.length}`)] }))
      .addEdge(START, "plan")
      .addConditionalEdges(
        "plan",
        () => ["a", "b", "c"].map((name) => new Send("work", { name })),
        ["work"],
      )
      .addEdge("work", "report")
      .compile({ checkpointer: run.saver });
    for (const asNode of ["work", "plan"]) {
      await run.send(graph, ask("go", `go ${asNode}`));
      await graph.updateState(run.config, { log: ["updated"], note: asNode }, asNode);
      await run.state(graph);
      await run.send(graph, null);
      await run.state(graph);
    }
    await run.send(graph, new Command({ resume: "yes" }));
    run.note(ran);
    await run.history(graph);
  });
});
