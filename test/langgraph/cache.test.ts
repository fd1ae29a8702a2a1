import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { type Checkpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";

import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import { keepBody } from "../../src/langgraph/thread-cache.ts";
import { createThreadCaches } from "../../src/langgraph/thread-caches.ts";
import type { Store } from "../../src/store/store.ts";
import { refuseRows } from "../helpers/engines.ts";
import { holdSession, openSaver } from "../helpers/checkpoints/saver.ts";

const thread = { configurable: { thread_id: "thread" } };
const metadata = { source: "loop" as const, step: 0, parents: {} };

function checkpointOf(messages: readonly BaseMessage[], version: number): Checkpoint {
  return {
    v: 4,
    id: uuid6(version),
    ts: new Date().toISOString(),
    channel_values: { messages: [...messages] },
    channel_versions: { messages: version },
    versions_seen: {},
  };
}

function messagesOf(checkpoint: Checkpoint | undefined): BaseMessage[] {
  return checkpoint?.channel_values["messages"] as BaseMessage[];
}

function texts(checkpoint: Checkpoint | undefined): string[] {
  return messagesOf(checkpoint).map((message) => message.text);
}

/** Messages with parts that can be changed in place. */
function nestedMessages() {
  return [
    new HumanMessage({ id: "h", content: [{ type: "text", text: "hello" }] }),
    new AIMessage({
      id: "a",
      content: "hi",
      tool_calls: [{ id: "c", name: "n", args: { x: [1] } }],
    }),
  ];
}

describe("a checkpoint that was read", () => {
  it("has each of its large values, also if one of them was known and not read again", async () => {
    await using opened = await openSaver();
    const values = { first: ["one ".repeat(100)], second: ["two ".repeat(100)] };
    const channel_versions = { first: 1, second: 1 };
    const checkpoint = { ...checkpointOf([], 1), channel_values: values, channel_versions };
    await opened.saver.put(thread, checkpoint, metadata, channel_versions);
    const parts = { store: opened.store, frozen: true, isShownOnly: true };
    const saver = createCheckpointSaver(parts);
    for (let read = 0; read < 3; read += 1) {
      expect((await saver.get(thread))?.channel_values).toEqual(values);
    }
  });

  it("can be changed in place without changing another read or the stored checkpoint", async () => {
    await using opened = await openSaver();
    const { saver } = opened;
    const first = nestedMessages();
    await saver.put(thread, checkpointOf(first, 1), metadata, { messages: 1 });
    const mine = messagesOf(await saver.get(thread));
    const yours = messagesOf(await saver.get(thread));
    const stored = JSON.stringify(yours);
    mine[0]!.content = "changed";
    (mine[1] as AIMessage).tool_calls![0]!.args["x"].push(2);
    mine[1]!.additional_kwargs["noted"] = true;
    mine.push(new HumanMessage("more"));
    expect(JSON.stringify(yours)).toBe(stored);
    expect(JSON.stringify(messagesOf(await saver.get(thread)))).toBe(stored);
  });

  it("is stored with the changes that were made in place before it was put", async () => {
    await using opened = await openSaver();
    const { saver } = opened;
    const config = await saver.put(
      thread,
      checkpointOf(
        [
          new HumanMessage({ id: "h", content: "one" }),
          new AIMessage({ id: "a", content: [{ type: "text", text: "two" }] }),
        ],
        1,
      ),
      metadata,
      { messages: 1 },
    );
    const messages = messagesOf(await saver.get(thread));
    messages[0]!.additional_kwargs["deep"] = { noted: [1] };
    (messages[1]!.content as { text: string }[])[0]!.text = "two, changed";
    await saver.put(config, checkpointOf(messages, 2), metadata, { messages: 2 });
    const read = messagesOf(await saver.get(thread));
    expect(read[0]!.additional_kwargs).toEqual({ deep: { noted: [1] } });
    expect(read[1]!.text).toBe("two, changed");
    expect(texts(await saver.get(config))).toEqual(["one", "two"]);
  });
});

describe("the shared messages of an exchange", () => {
  it("are the same frozen objects in every read, each time in a separate list", async () => {
    await using opened = await openSaver();
    const saver = opened.saver.holding(await holdSession(opened.store));
    const first = nestedMessages();
    const config = await saver.put(thread, checkpointOf(first, 1), metadata, { messages: 1 });
    const mine = messagesOf(await saver.get(thread));
    const yours = messagesOf(await saver.get(thread));
    expect(mine.map((message, index) => message === yours[index])).toEqual([true, true]);
    expect(() => (mine[0]!.content = "changed")).toThrow(TypeError);
    expect(() => (mine[1] as AIMessage).tool_calls![0]!.args["x"].push(2)).toThrow(TypeError);
    expect(() => (mine[1]!.additional_kwargs["noted"] = true)).toThrow(TypeError);
    mine.push(new HumanMessage({ id: "m", content: "more" }));
    expect(yours).toHaveLength(2);
    await saver.put(config, checkpointOf(mine, 2), metadata, { messages: 2 });
    expect(texts(await saver.get(thread))).toEqual(["hello", "hi", "more"]);
    // what others read is theirs
    const own = messagesOf(await opened.saver.get(thread));
    own[0]!.content = "changed";
    expect(texts(await saver.get(thread))).toEqual(["hello", "hi", "more"]);
  });
});

describe("the cache of threads", () => {
  it("gives the checkpoint of another process as the latest, once that process has put one", async () => {
    await using opened = await openSaver();
    const other = createCheckpointSaver({ store: opened.store });
    let config = thread;
    const messages: BaseMessage[] = [];
    for (let version = 1; version <= 6; version += 1) {
      messages.push(new HumanMessage({ id: `m${version}`, content: `${version}` }));
      const saver = version % 2 === 0 ? other : opened.saver;
      config = (await saver.put(config, checkpointOf(messages, version), metadata, {
        messages: version,
      })) as typeof thread;
      for (const reader of [opened.saver, other]) {
        expect(texts(await reader.get(thread))).toEqual(messages.map(({ text }) => text));
      }
    }
  });

  it("starts a thread empty that another process deleted", async () => {
    await using opened = await openSaver();
    const other = createCheckpointSaver({ store: opened.store });
    const messages = [
      new HumanMessage({ id: "1", content: "one" }),
      new AIMessage({ id: "2", content: "two" }),
    ];
    const config = await opened.saver.put(thread, checkpointOf(messages, 1), metadata, {
      messages: 1,
    });
    await other.deleteThread("thread");
    expect(await opened.saver.get(thread)).toBeUndefined();
    const longer = [...messages, new HumanMessage({ id: "3", content: "three" })];
    await opened.saver.put(config, checkpointOf(longer, 2), metadata, { messages: 2 });
    expect(texts(await opened.saver.get(thread))).toEqual(["one", "two", "three"]);
    // what is not new since a parent that is gone is stored all the same
    await other.deleteThread("thread");
    await opened.saver.put(config, checkpointOf(longer, 2), metadata, {});
    expect(texts(await other.get(thread))).toEqual(["one", "two", "three"]);
  });

  it("keeps nothing of a write that failed, so that no later write depends on it", async () => {
    await using opened = await openSaver();
    const { saver, store } = opened;
    const one = new HumanMessage({ id: "1", content: "one" });
    const two = new HumanMessage({ id: "2", content: "two" });
    const config = await saver.put(thread, checkpointOf([one], 1), metadata, { messages: 1 });
    const refusing = await refuseRows(store, { table: "checkpoints", on: "INSERT" });
    await expect(
      saver.put(config, checkpointOf([one, two], 2), metadata, { messages: 2 }),
    ).rejects.toThrow("refused");
    await refusing.stop();
    const three = new HumanMessage({ id: "3", content: "three" });
    await saver.put(config, checkpointOf([one, two, three], 3), metadata, { messages: 3 });
    expect(texts(await saver.get(thread))).toEqual(["one", "two", "three"]);
  });

  it("gives the checkpoint that was put last as the latest, even under the id of an earlier clock", async () => {
    await using opened = await openSaver();
    const { saver } = opened;
    const config = await saver.put(
      thread,
      { ...checkpointOf([new HumanMessage("one")], 1), id: "f" },
      metadata,
      { messages: 1 },
    );
    await saver.put(config, { ...checkpointOf([new HumanMessage("two")], 2), id: "a" }, metadata, {
      messages: 2,
    });
    expect((await saver.getTuple(thread))?.checkpoint.id).toBe("a");
    const listed = await Array.fromAsync(saver.list(thread));
    expect(listed.map(({ checkpoint }) => checkpoint.id)).toEqual(["a", "f"]);
  });
});

describe("what a saver keeps of its threads", () => {
  it("[SAVER-48] is dropped for the threads used longest ago, by weight and by number", () => {
    const row = (thread: number, length: number) => ({
      id: thread,
      hash: `hash ${thread}`,
      body: "x".repeat(length),
    });
    const byNumber = createThreadCaches();
    const caches = Array.from({ length: 1000 }, (_, thread) => byNumber.of(`thread ${thread}`));
    expect(byNumber.of("thread 0")).toBe(caches[0]);
    byNumber.of("one more");
    expect(byNumber.of("thread 0")).toBe(caches[0]);
    expect(byNumber.of("thread 1")).not.toBe(caches[1]);

    const byWeight = createThreadCaches();
    const [first, second] = [byWeight.of("first"), byWeight.of("second")];
    keepBody(first, row(1, 40 * 1024 * 1024));
    expect(byWeight.of("first")).toBe(first);
    keepBody(second, row(2, 30 * 1024 * 1024));
    expect(byWeight.of("first")).toBe(first);
    expect(byWeight.of("second")).not.toBe(second);
    // what a dropped one still gets does not count, and what is forgotten counts no more
    keepBody(second, row(3, 30 * 1024 * 1024));
    expect(byWeight.of("first")).toBe(first);
    byWeight.forget("first");
    const third = byWeight.of("third");
    keepBody(third, row(4, 60 * 1024 * 1024));
    byWeight.of("fourth");
    expect(byWeight.of("third")).toBe(third);
  });

  it("[SAVER-48] is not dropped for threads that do not exist", async () => {
    await using opened = await openSaver();
    const known: number[] = [];
    const store: Store = {
      ...opened.store,
      read: (operation, input) => {
        known.push((input as { have: ReadonlyMap<number, number> }).have.size);
        return opened.store.read(operation, input);
      },
    };
    const saver = createCheckpointSaver({ store });
    await saver.put(thread, checkpointOf(nestedMessages(), 1), metadata, { messages: 1 });
    for (let index = 0; index < 1001; index += 1) {
      expect(
        await saver.getTuple({ configurable: { thread_id: `none ${index}` } }),
      ).toBeUndefined();
    }
    expect(texts(await saver.get(thread))).toEqual(["hello", "hi"]);
    expect(known.at(-1)).toBe(1);
  });
});
