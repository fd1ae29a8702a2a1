import { HumanMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { type BaseCheckpointSaver, emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";

import { RepriseSaver } from "../../src/entries/langgraph.ts";
import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { pruneThread } from "../../src/store/checkpoints/prune.ts";
import type { Operation } from "../../src/store/store.ts";
import { readKept } from "../helpers/checkpoints/kept.ts";
import { largeValues } from "../helpers/checkpoints/large-values.ts";
import { openSaver } from "../helpers/checkpoints/saver.ts";
import { TwinSaver } from "../helpers/checkpoints/twin-saver.ts";
import { randomOf } from "../helpers/random.ts";
import { testSize } from "../helpers/size.ts";

const SIZE = 50_000;
const VALUES = largeValues(randomOf(1));
/** The kinds that are edited one by one. */
const SOME = Object.entries(VALUES).slice(0, testSize("large-values"));
const config = { configurable: { thread_id: "large" }, durability: "sync" as const };

const STATE = Annotation.Root({ ...MessagesAnnotation.spec, value: Annotation<unknown> });

/** A node writes a large value that it was given, then another node does something else. */
function editing(checkpointer: BaseCheckpointSaver, next: (value: unknown) => unknown) {
  return new StateGraph(STATE)
    .addNode("edit", ({ value }) => ({ value: next(value) }))
    .addNode("rest", () => ({ messages: [] }))
    .addEdge(START, "edit")
    .addEdge("edit", "rest")
    .addEdge("rest", END)
    .compile({ checkpointer });
}

/** Characters of everything that is kept for checkpoints. */
const keptLength: Operation<null, number> = async ({ db }) => {
  const tables = [
    await db.selectFrom("checkpoints").selectAll().execute(),
    await db.selectFrom("checkpoint_writes").selectAll().execute(),
    await db.selectFrom("checkpoint_bodies").selectAll().execute(),
  ];
  return JSON.stringify(tables).length;
};

describe("a large value of a graph's state", () => {
  it.each(SOME)(
    "[VALUE-1] costs what changed in it, not what it is: %s",
    async (_, { make, edit }) => {
      await using opened = await openSaver();
      const graph = editing(opened.saver, (value) =>
        value === undefined ? make(SIZE) : edit(value as never),
      );
      await graph.invoke({ messages: [] }, config);
      const before = await opened.store.read(keptLength, null);
      for (let exchange = 0; exchange < 10; exchange += 1) {
        await graph.invoke({ messages: [] }, config);
      }
      const after = await opened.store.read(keptLength, null);
      expect((after - before) / 10).toBeLessThan(10_000);
    },
  );

  it("[VALUE-1] costs as little as the input of an exchange, which is kept twice on the way", async () => {
    await using opened = await openSaver();
    const { make, edit } = VALUES["20 files"]!;
    const graph = editing(opened.saver, (value) => value);
    let value = make(SIZE);
    await graph.invoke({ messages: [], value }, config);
    const before = await opened.store.read(keptLength, null);
    for (let exchange = 0; exchange < 10; exchange += 1) {
      value = edit(value as never);
      await graph.invoke({ messages: [], value }, config);
    }
    const after = await opened.store.read(keptLength, null);
    expect((after - before) / 10).toBeLessThan(12_000);
  });

  it("[VALUE-1] costs one number for each chunk in a checkpoint that does not change it", async () => {
    await using opened = await openSaver();
    for (const { make } of Object.values(VALUES)) {
      const value = make(SIZE);
      await editing(opened.saver, () => value).invoke({ messages: [] }, config);
    }
    const rows = await opened.store.read(
      ({ db }) => db.selectFrom("checkpoints").select("channels").execute(),
      null,
    );
    expect(Math.max(...rows.map(({ channels }) => channels.length))).toBeLessThan(300);
  });

  it.each(SOME)(
    "[VALUE-2] is read as MemorySaver reads it, after every edit, fork and return: %s",
    async (_, { make, edit }) => {
      await using opened = await openSaver();
      const twin = new TwinSaver([opened.saver, createCheckpointSaver({ store: opened.store })]);
      const graph = editing(twin, (value) =>
        value === undefined ? make(SIZE) : edit(value as never),
      );
      for (let exchange = 0; exchange < 4; exchange += 1) {
        await graph.invoke({ messages: [new HumanMessage(`${exchange}`)] }, config);
      }
      const history = await Array.fromAsync(graph.getStateHistory(config));
      const older = history[4]!;
      await graph.updateState(older.config, { value: edit(older.values.value as never) }, "edit");
      await graph.invoke({ messages: [] }, config);
      await graph.updateState(config, { value: older.values.value }, "edit");
      await twin.compareAll("large");
    },
  );

  it("[VALUE-2] is read as MemorySaver reads it, whatever it holds", async () => {
    await using opened = await openSaver();
    const twin = new TwinSaver([opened.saver, createCheckpointSaver({ store: opened.store })]);
    const { make } = VALUES["one text"]!;
    const message = (id: string) => new HumanMessage({ id, content: String(make(3000)) });
    const values = [
      { z: make(3000), a: make(3000), 10: "ten", 9: make(3000) },
      new Map<unknown, unknown>([
        ["m", message("m")],
        ["text", make(5000)],
        [1, new Set([make(2000)])],
      ]),
      { odd: undefined, bytes: new Uint8Array(3000).fill(7), at: new Date(0), text: make(2000) },
      { $m: make(2000), $l: [make(2000)], $e: "e", $c: [1, 2], inner: { $m: message("inner") } },
      Array.from({ length: 300 }, (_, index) => ({ index, message: message(`${index}`) })),
      "+".repeat(5000),
      `["HumanMessage",{"content":"${String(make(3000))}","id":"x"}]`,
      ["HumanMessage", { content: make(300), id: "y" }],
      "\0\ud800😀".repeat(2000),
      Array.from({ length: 5000 }, (_, index) => index % 7),
    ];
    const graph = new StateGraph(STATE)
      .addNode("edit", ({ messages }) => ({
        value: values[messages.length],
        messages: [new HumanMessage("edited")],
      }))
      .addNode("leaf", () => ({}))
      .addEdge(START, "edit")
      .addConditionalEdges("edit", (state) => [new Send("leaf", state)], ["leaf"])
      .compile({ checkpointer: twin });
    for (const _ of values) {
      await graph.invoke({}, config);
    }
    await twin.compareAll("large");
  });

  it("[VALUE-2] belongs to its reader alone", async () => {
    await using opened = await openSaver();
    const { make } = VALUES["20 files"]!;
    const value = make(SIZE);
    const graph = editing(opened.saver, () => value);
    await graph.invoke({ messages: [] }, config);
    const { values } = await graph.getState(config);
    expect(values.value).toEqual(value);
    (values.value as Record<string, unknown>)["/src/1.txt"] = "changed by its reader";
    expect((await graph.getState(config)).values.value).toEqual(value);
  });

  it("[VALUE-3] leaves nothing that no checkpoint needs when its thread is pruned", async () => {
    await using opened = await openSaver();
    const { saver, store } = opened;
    for (const { make, edit } of Object.values(VALUES)) {
      const graph = editing(saver, (value) => edit(value as never));
      await graph.invoke({ messages: [], value: make(SIZE) }, config);
      await graph.invoke({ messages: [] }, config);
      saver.forgetPruned(
        "large",
        await store.write(pruneThread, { thread_id: "large", fence: null }),
      );
    }
    const { dangling, unused } = await store.read(readKept, null);
    expect({ dangling, unused }).toEqual({ dangling: [], unused: [] });
  });

  it("[VALUE-3] leaves no chunk of values that are gone when a saver prunes its thread, nor in a copy of it", async () => {
    await using opened = await openSaver();
    const { store } = opened;
    const saver = RepriseSaver.from(store);
    const { make, edit } = VALUES["20 files as lists of lines"]!;
    const graph = editing(saver, (value) => edit(value as never));
    await graph.invoke({ messages: [], value: make(SIZE) }, config);
    for (let exchange = 0; exchange < 5; exchange += 1) {
      await graph.invoke({ messages: [] }, config);
    }
    const { values } = await graph.getState(config);
    await saver.prune("large");
    await saver.copyThread("large", "copied");
    const copied = { ...config, configurable: { thread_id: "copied" } };
    expect((await graph.getState(copied)).values).toEqual(values);
    expect((await graph.getState(config)).values).toEqual(values);
    const { bodies, dangling, unused } = await store.read(readKept, null);
    expect({ dangling, unused }).toEqual({ dangling: [], unused: [] });
    // of each thread the chunks of one version, and a shape
    expect(bodies).toBeLessThan(2 * 45);
  });

  it("[VALUE-6] is stored as it was when put was called", async () => {
    await using opened = await openSaver();
    const saver = RepriseSaver.from(opened.store);
    const value = { text: "x".repeat(3000) };
    const checkpoint = { ...emptyCheckpoint(), channel_versions: { value: 1 } };
    const put = saver.put(
      { configurable: { thread_id: "large" } },
      { ...checkpoint, channel_values: { value } },
      { source: "input", step: -1, parents: {} },
      { value: 1 },
    );
    const write = { configurable: { thread_id: "large", checkpoint_id: checkpoint.id } };
    const putWrites = saver.putWrites(write, [["value", value]], "task");
    value.text = "changed";
    await Promise.all([put, putWrites]);
    const tuple = await createCheckpointSaver(opened).getTuple(write);
    const stored = { text: "x".repeat(3000) };
    expect(tuple?.checkpoint.channel_values["value"]).toEqual(stored);
    expect(tuple?.pendingWrites).toEqual([["task", "value", stored]]);
  });

  it("[VALUE-6] keeps its earlier states if a later node changes it in place and returns it", async () => {
    await using opened = await openSaver();
    const twin = new TwinSaver([opened.saver]);
    const graph = editing(twin, (value) => {
      const files = value as Record<string, string>;
      files["/src/1.txt"] = "changed in place";
      return files;
    });
    const value = VALUES["20 files"]!.make(SIZE);
    await graph.invoke({ messages: [], value }, config);
    await graph.invoke({ messages: [] }, config);
    await twin.compareAll("large");
  });
});
