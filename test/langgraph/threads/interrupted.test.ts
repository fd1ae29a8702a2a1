import {
  Annotation,
  Command,
  entrypoint,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { type Checkpoint, emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";

import { RepriseSaver } from "../../../src/entries/langgraph.ts";
import { describeEngine, execute } from "../../helpers/engines.ts";

const config = (thread_id: string) => ({ configurable: { thread_id } });

/** `c` runs after both `a` and `b`; the name of one has a + itself. */
function joining(b: string, defer: boolean) {
  return new StateGraph(MessagesAnnotation)
    .addNode("a", () => ({ messages: ["a"] }))
    .addNode(b, () => ({ messages: ["b"] }))
    .addNode("c", () => ({ messages: ["c"] }), { defer })
    .addEdge(START, "a")
    .addEdge(START, b)
    .addEdge(["a", b], "c");
}

/** `c` waits for ever for a node that a condition skipped. */
const half = new StateGraph(MessagesAnnotation)
  .addNode("a", () => ({}))
  .addNode("b", () => ({}))
  .addNode("c", () => ({}))
  .addConditionalEdges(START, () => "a", ["a", "b"])
  .addEdge(["a", "b"], "c");

const sending = new StateGraph(MessagesAnnotation)
  .addNode("send", () => new Command({ goto: [new Send("sent", {})] }), { ends: ["sent"] })
  .addNode("sent", () => ({}))
  .addEdge(START, "send");

const asking = new StateGraph(Annotation.Root({ answer: Annotation<string> }))
  .addNode("ask", () => ({ answer: interrupt<string, string>("which?") }))
  .addEdge(START, "ask");

describeEngine("a thread is interrupted", (engine) => {
  it("[THREAD-17] if its graph has a next node, one that waits for several others too", async () => {
    const database = await engine.create();
    const store = await database.open();
    const saver = RepriseSaver.from(store);
    const graphs = [
      joining("b", false).compile({ checkpointer: saver, interruptBefore: ["c"] }),
      joining("b", false).compile({ checkpointer: saver, interruptAfter: ["a"] }),
      joining("b+c", false).compile({ checkpointer: saver, interruptBefore: ["c"] }),
      joining("b", true).compile({ checkpointer: saver, interruptBefore: ["c"] }),
      joining("b", true).compile({ checkpointer: saver, interruptAfter: ["c"] }),
      joining("b", false).compile({ checkpointer: saver }),
      half.compile({ checkpointer: saver }),
      half.compile({ checkpointer: saver, interruptBefore: ["a"] }),
      sending.compile({ checkpointer: saver, interruptBefore: ["sent"] }),
      sending.compile({ checkpointer: saver }),
      asking.compile({ checkpointer: saver }),
      entrypoint({ name: "asks", checkpointer: saver }, () => interrupt("which?")),
      entrypoint({ name: "ends", checkpointer: saver }, () => "done"),
    ];
    const waiting: string[] = [];
    for (const [index, graph] of graphs.entries()) {
      const thread = `thread ${index}`;
      await graph.invoke({ messages: ["question"] }, config(thread));
      const { next } = await graph.getState(config(thread));
      const { interrupted } = await saver.stats(thread);
      expect([thread, interrupted]).toEqual([thread, next.length > 0]);
      if (interrupted) {
        waiting.push(thread);
      }
    }
    await execute(store, "UPDATE checkpoints SET ts = ?", "2020-01-01T00:00:00.000Z");
    expect(await saver.deleteOlderThan(1)).toBe(graphs.length - waiting.length);
    const { threads } = await saver.threads();
    expect(threads.map(({ thread_id }) => thread_id).toSorted()).toEqual(waiting.toSorted());
    expect(waiting).toHaveLength(8);
  });

  it("[THREAD-17] if an early version of LangGraph left a node or may have left one", async () => {
    const database = await engine.create();
    const saver = RepriseSaver.from(await database.open());
    // as LangGraph 0.2.36 stores them
    const ran = { __input__: {}, __start__: { __start__: 1 }, a: { "__start__:a": 2 } };
    const linear = { ...ran, b: { a: 3 }, c: { b: 4 } };
    const cases: readonly [boolean, Record<string, unknown>, Checkpoint["versions_seen"]][] = [
      [true, { "__start__:a": "__start__" }, { __input__: {}, __start__: { __start__: 1 } }],
      [true, { a: "a", "branch:a:condition:c": "a" }, ran],
      [false, { v: "end", "join:a+b:c": [] }, { ...ran, c: { "join:a+b:c": 3 } }],
      [true, { a: "a", b: "b", "join:a+b:c": ["a", "b"] }, { ...ran, b: { "__start__:b": 2 } }],
      [true, { v: "again", a: "a" }, linear],
      // whether an edge leads on from the node that ran last is not in the checkpoint
      [true, { v: "end", c: "c" }, linear],
      [false, { v: "end" }, linear],
      // a Pregel names its channels as it likes
      [true, { input: "i", middle: "m" }, { __input__: {}, one: { input: 9 } }],
      [true, { input: "i" }, { __input__: {} }],
    ];
    for (const [index, [interrupted, values, versions_seen]] of cases.entries()) {
      const channel_versions = Object.fromEntries(Object.keys(values).map((name) => [name, 9]));
      const checkpoint = { ...emptyCheckpoint(), v: 1, channel_values: values };
      await saver.put(
        { configurable: { thread_id: `thread ${index}`, checkpoint_ns: "" } },
        { ...checkpoint, channel_versions, versions_seen },
        { source: "loop", step: 1, parents: {} },
        channel_versions,
      );
      const stats = await saver.stats(`thread ${index}`);
      expect([index, stats.interrupted]).toEqual([index, interrupted]);
    }
  });

  it("[THREAD-17] if the sends of a checkpoint of an early format are with its parent", async () => {
    const database = await engine.create();
    const saver = RepriseSaver.from(await database.open());
    const put = (parent: Parameters<RepriseSaver["put"]>[0], id: string) =>
      saver.put(
        parent,
        { ...emptyCheckpoint(), v: 1, id },
        { source: "loop", step: 1, parents: {} },
        {},
      );
    const first = await put({ configurable: { thread_id: "sends", checkpoint_ns: "" } }, "1");
    await saver.putWrites(first, [["__pregel_tasks", new Send("sent", {})]], "task");
    expect((await saver.stats("sends")).interrupted).toBe(false);
    const second = await put(first, "2");
    expect((await saver.stats("sends")).interrupted).toBe(true);
    await put(second, "3");
    expect((await saver.stats("sends")).interrupted).toBe(false);
  });
});
