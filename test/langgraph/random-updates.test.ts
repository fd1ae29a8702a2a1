import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { expect, it } from "vitest";

import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { largeValues } from "../helpers/checkpoints/large-values.ts";
import { randomOf } from "../helpers/random.ts";
import { openSaver } from "../helpers/checkpoints/saver.ts";
import { TwinSaver } from "../helpers/checkpoints/twin-saver.ts";
import { testSize } from "../helpers/size.ts";

const SEEDS = Array.from({ length: testSize("threads") }, (_, index) => index + 1);
const ACTIONS = 8;
const config = { configurable: { thread_id: "updated" }, durability: "sync" as const };

interface Task {
  readonly name: string;
  readonly asks: boolean;
}

type Large = Readonly<Record<string, unknown>>;

const STATE = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** Which tasks have finished, in order. */
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  tasks: Annotation<Task[]>,
  /** By the kind of the value. */
  large: Annotation<Large>({
    reducer: (a, b) => ({ ...a, ...b }),
    default: () => ({}),
  }),
});

/** Each kind of large value made at its turn, and changed whenever it comes again. */
function editorOf(random: () => number): (large: Large) => Large {
  const values = Object.entries(largeValues(random));
  return (large) => {
    const turn = Number(large["turn"] ?? 0);
    const [name, { make, edit }] = values[turn % values.length]!;
    const value = name in large ? edit(large[name] as never) : make(6000);
    return { [name]: value, turn: turn + 1 };
  };
}

/** Tasks side by side, some of which ask a person before they finish. */
function openGraph(checkpointer: TwinSaver, edited: (large: Large) => Large) {
  return new StateGraph(STATE)
    .addNode("plan", ({ large }) => ({ large: edited(large) }))
    .addNode("work", (task: Task) => {
      const answer = task.asks ? interrupt(task.name) : "done";
      return {
        log: [`${task.name} ${String(answer)}`],
        messages: [new AIMessage({ id: `of ${task.name}`, content: task.name })],
      };
    })
    .addNode("report", ({ log }) => ({
      messages: [new AIMessage({ id: `report ${log.length}`, content: log.join() })],
    }))
    .addEdge(START, "plan")
    .addConditionalEdges("plan", ({ tasks }) => tasks.map((task) => new Send("work", task)), [
      "work",
    ])
    .addEdge("work", "report")
    .addEdge("report", END)
    .compile({ checkpointer });
}

type Graph = ReturnType<typeof openGraph>;

/** One step of a user of the thread: new tasks, an answer, a change of the state. */
async function act(
  graph: Graph,
  { random, edited, step }: { random: () => number; edited: (large: Large) => Large; step: number },
) {
  const pick = random();
  if (step === 0 || pick < 0.3) {
    const tasks = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, index) => ({
      name: `${step}.${index}`,
      asks: random() < 0.4,
    }));
    const messages = [new HumanMessage({ id: `ask ${step}`, content: `${tasks.length} tasks` })];
    await graph.invoke({ messages, tasks }, config);
    return;
  }
  const { next, config: at } = await graph.getState(config);
  if (pick < 0.7) {
    const node = random() < 0.6 ? "work" : "plan";
    const message = new AIMessage({ id: `update ${step}`, content: "put in" });
    const { values } = await graph.getState(config);
    const update = { messages: [message], log: [`update ${step}`], large: edited(values.large) };
    await graph.updateState(config, update, node);
  } else if (next.length > 0) {
    await graph.invoke(random() < 0.5 ? null : new Command({ resume: `answer ${step}` }), config);
  } else {
    await graph.updateState(at, { log: ["late"] }, "report");
  }
}

it.each(SEEDS)(
  "reads the same as MemorySaver when parallel tasks are interrupted and the state, with large values, is updated: seed %i",
  async (seed) => {
    await using opened = await openSaver();
    const both = [opened.saver, createCheckpointSaver({ store: opened.store })];
    const twin = new TwinSaver(both);
    const edited = editorOf(randomOf(seed));
    const graph = openGraph(twin, edited);
    const random = randomOf(seed);
    for (let step = 0; step < ACTIONS; step += 1) {
      await act(graph, { random, edited, step });
    }
    const cold = new TwinSaver([createCheckpointSaver({ store: opened.store })], twin.memory);
    expect(await twin.compareAll("updated")).toBe(await cold.compareAll("updated"));
  },
);

it("does not run a finished task again when the state is updated during an interrupt beside it", async () => {
  await using opened = await openSaver();
  const graph = openGraph(new TwinSaver([opened.saver]), () => ({}));
  const tasks = [
    { name: "finished", asks: false },
    { name: "interrupted", asks: true },
  ];
  await graph.invoke({ messages: [], tasks }, config);
  await graph.updateState(config, { log: ["answered for it"] }, "work");
  const { next } = await graph.getState(config);
  expect(next).toEqual(["report"]);
  const { log } = await graph.invoke(null, config);
  expect(log).toEqual(["finished done", "answered for it"]);
});
