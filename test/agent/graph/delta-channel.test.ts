import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  type BaseCheckpointSaver,
  DeltaValue,
  MemorySaver,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { expect, it } from "vitest";
import { z } from "zod";

import { RepriseSaver } from "../../../src/entries/langgraph.ts";
import { describeEngine } from "../../helpers/engines.ts";
import { openOn } from "../../helpers/graphs.ts";
import { testSize } from "../../helpers/size.ts";
import { expectVerified } from "../../helpers/verified.ts";

function deltaLog(snapshotFrequency: number) {
  return new DeltaValue(
    z.array(z.string()).default(() => []),
    {
      inputSchema: z.string(),
      reducer: (log: string[], more: readonly string[]) => [...log, ...more],
      snapshotFrequency,
    },
  );
}

/** With it the metadata of a checkpoint, which counts by channel, is too long to be kept inline. */
const LONG_NAME = "x".repeat(120);

/** Each stores three updates of a channel, so that the first four cross a snapshot of every fifth. */
const TURNS = testSize("delta");

/** Keeps a log in a delta channel, with a snapshot after each `frequency` updates. */
function logging({ frequency, more }: (typeof GRAPHS)[number]) {
  const State = new StateSchema({
    messages: MessagesValue,
    log: deltaLog(frequency),
    ...(more && { [LONG_NAME]: deltaLog(frequency) }),
  });
  return new StateGraph(State)
    .addNode("count", ({ log }) => ({ log: `count ${log.length}` }))
    .addNode("answer", ({ log }) => ({
      log: "answer",
      messages: [new AIMessage(`after ${log.length}`)],
    }))
    .addEdge(START, "count")
    .addEdge("count", "answer");
}

const GRAPHS = [
  { frequency: 1, more: false },
  { frequency: 2, more: false },
  { frequency: 5, more: false },
  { frequency: 100, more: false },
  { frequency: 100, more: true },
];

const input = (turn: number) => ({
  messages: [new HumanMessage(`turn ${turn}`)],
  log: `input ${turn}`,
});

/** The state after each exchange, latest first. */
async function statesOf(
  graph: ReturnType<typeof logging>,
  checkpointer: BaseCheckpointSaver,
  thread_id: string,
) {
  const config = { configurable: { thread_id } };
  const states = await Array.fromAsync(graph.compile({ checkpointer }).getStateHistory(config));
  return (
    states
      // not the empty one beside which the first input is kept
      .filter(({ next, values }) => next.length === 0 && values["messages"]?.length > 0)
      .map(({ values: { log, messages } }) => ({
        log,
        messages: messages.map(({ text }: { readonly text: string }) => text),
      }))
  );
}

describeEngine("a graph with a delta channel", (engine) => {
  it.each(GRAPHS)(
    "[GRAPH-20] has the state that MemorySaver keeps after each exchange (%o)",
    async (given) => {
      const { location, reprise, id } = await openOn(engine);
      const graph = logging(given);
      const memory = new MemorySaver();
      for (let turn = 0; turn < TURNS; turn += 1) {
        const { thread_id } = await reprise.run(id, graph.compile(), input(turn));
        const config = { configurable: { thread_id } };
        await graph.compile({ checkpointer: memory }).invoke(input(turn), config);
        await using cold = new RepriseSaver(location);
        const states = await statesOf(graph, cold, thread_id);
        expect(states).toHaveLength(turn + 1);
        expect(states).toEqual(await statesOf(graph, memory, thread_id));
      }
      await expectVerified(location, id);
    },
  );
});
