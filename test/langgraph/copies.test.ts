import { isDeepStrictEqual } from "node:util";

import {
  AIMessage,
  AIMessageChunk,
  BaseMessage,
  ChatMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { type BaseCheckpointSaver, type Checkpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";

import { RepriseSaver } from "../../src/langgraph/reprise-saver.ts";
import { openSaver } from "../helpers/checkpoints/saver.ts";

const thread = { configurable: { thread_id: "thread" } };
const metadata = { source: "loop" as const, step: 0, parents: {} };

const text = { type: "text", text: "hello" };
const call = { id: "c", name: "n", args: { deep: [{ x: 1 }] }, type: "tool_call" as const };
const usage_metadata = {
  input_tokens: 1,
  output_tokens: 2,
  total_tokens: 3,
  input_token_details: { cache_read: 1 },
};
const tool = { tool_call_id: "c", content: "result" };

/** What each constructor is given; messages are changed in place, so new ones at every call. */
const MESSAGES: readonly (() => BaseMessage)[] = [
  () => new HumanMessage({ id: "1", content: "hello" }),
  () => new HumanMessage({ id: "2", content: [{ ...text }], name: "user" }),
  () => new HumanMessage({ id: "3", content: "", additional_kwargs: { a: { b: [1] } } }),
  () => new HumanMessage({ id: "4", content: [], response_metadata: { a: [] } }),
  () => new AIMessage({ id: "5", content: "hello" }),
  () => new AIMessage({ id: "6", content: "", tool_calls: [structuredClone(call)] }),
  () => new AIMessage({ id: "7", content: [{ ...text }], usage_metadata: { ...usage_metadata } }),
  () => new AIMessage({ id: "8", content: "", name: "agent", response_metadata: { model: "m" } }),
  () =>
    new AIMessage({
      id: "9",
      content: "",
      invalid_tool_calls: [{ id: "c", name: "n", args: "{", error: "cut" }],
      additional_kwargs: { reasoning: ["because"] },
    }),
  () =>
    new AIMessage({
      id: "10",
      content: [{ ...text }],
      response_metadata: { output_version: "v1" },
    }),
  () => new ToolMessage({ ...tool, id: "11" }),
  () => new ToolMessage({ ...tool, id: "12", name: "n", status: "error" }),
  () => new ToolMessage({ ...tool, id: "13", artifact: { rows: [1] }, metadata: { took: 1 } }),
  () => new ToolMessage({ ...tool, id: "14", content: [{ ...text }] }),
  () => new SystemMessage({ id: "15", content: "be brief" }),
  () => new ChatMessage({ id: "16", content: "hello", role: "critic" }),
  () => new AIMessageChunk({ id: "17", content: "hello" }),
  () =>
    new AIMessageChunk({
      id: "18",
      content: "",
      tool_call_chunks: [{ id: "c", name: "n", args: "{}", index: 0 }],
    }),
];

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

async function read(saver: BaseCheckpointSaver): Promise<BaseMessage[]> {
  return (await saver.get(thread))?.channel_values["messages"] as BaseMessage[];
}

/** A saver whose thread has all messages and has been read once: the first read differs inside. */
async function filled() {
  const opened = await openSaver();
  const messages = MESSAGES.map((make) => make());
  const config = await opened.saver.put(thread, checkpointOf(messages, 1), metadata, {
    messages: 1,
  });
  const first = await read(opened.saver);
  return { opened, config, first };
}

/** Every object that can be reached from a value, but for what its class has. */
function objectsIn(value: unknown, found = new Set<object>()): Set<object> {
  if (typeof value === "object" && value !== null && !found.has(value)) {
    found.add(value);
    for (const key of Reflect.ownKeys(value)) {
      objectsIn(Reflect.get(value, key), found);
    }
  }
  return found;
}

describe("a message that is read", () => {
  it("[VALUE-10] is as the constructor of its class makes it, in the first read and in later ones", async () => {
    const { opened, first } = await filled();
    await using _opened = opened;
    const second = await read(opened.saver);
    for (const [index, make] of MESSAGES.entries()) {
      const made = make();
      for (const message of [first[index]!, second[index]!]) {
        expect(isDeepStrictEqual(message, made), made.id).toBe(true);
        expect(Reflect.ownKeys(message)).toEqual(Reflect.ownKeys(made));
        expect(message.constructor).toBe(made.constructor);
        expect(message.toJSON()).toEqual(made.toJSON());
        expect(BaseMessage.isInstance(message)).toBe(true);
        for (const key of Object.keys(made.lc_kwargs)) {
          const isOne = Reflect.get(made, key) === made.lc_kwargs[key];
          expect(Reflect.get(message, key) === message.lc_kwargs[key], key).toBe(isOne);
        }
      }
    }
  });

  it("[VALUE-10] shares nothing that could change with what others read", async () => {
    const { opened, first } = await filled();
    await using _opened = opened;
    const reads = [first, await read(opened.saver), await read(opened.saver)];
    const [mine, ...others] = reads.map((messages) => objectsIn(messages));
    for (const other of others) {
      expect([...mine!].filter((object) => other.has(object))).toEqual([]);
    }
  });

  it("[VALUE-10] keeps what its reader changed in any part, for the reader and in a new version of the channel", async () => {
    const changes: readonly ((messages: BaseMessage[]) => void)[] = [
      ([human]) => (human!.content = "changed"),
      ([human]) => (human!.additional_kwargs["noted"] = true),
      ([human]) => Reflect.set(human!.response_metadata, "noted", [1]),
      ([, human]) => ((human!.content[0] as { text: string }).text = "changed"),
      ([, , human]) => (human!.additional_kwargs["a"] as { b: number[] }).b.push(2),
      ([, , , , answer]) => (answer as AIMessage).tool_calls!.push(structuredClone(call)),
      ([, , , , , answer]) => ((answer as AIMessage).tool_calls![0]!.args["deep"] = []),
      (messages) => ((messages[6] as AIMessage).usage_metadata!.output_tokens = 9),
      (messages) => ((messages[12] as ToolMessage).artifact.rows[0] = 2),
      (messages) => ((messages[11] as ToolMessage).status = "success"),
      (messages) => messages.splice(3, 4),
      (messages) => messages.shift(),
    ];
    const { opened, config } = await filled();
    await using _opened = opened;
    let version = 1;
    let parent = config;
    for (const change of changes) {
      const before = await read(opened.saver);
      const stored = JSON.stringify(before);
      const mine = await read(opened.saver);
      change(mine);
      expect(JSON.stringify(mine)).not.toBe(stored);
      expect(JSON.stringify(before)).toBe(stored);
      version += 1;
      parent = await opened.saver.put(parent, checkpointOf(mine, version), metadata, {
        messages: version,
      });
      expect((await read(opened.saver)).map((message) => message.toJSON())).toEqual(
        mine.map((message) => message.toJSON()),
      );
    }
  });
});

describe("messages that are read frozen", () => {
  it("[VALUE-11] are the same for all readers and cannot be changed", async () => {
    const { opened } = await filled();
    await using _opened = opened;
    const saver = RepriseSaver.from(opened.store, { frozen: true });
    const [mine, yours] = [await read(saver), await read(saver)];
    const isShared = mine.map((message, index) => message === yours[index]);
    const loaded = ["10", "16"];
    expect(isShared).toEqual(mine.map(({ id }) => !loaded.includes(id ?? "")));
    expect(() => (mine[0]!.content = "changed")).toThrow(TypeError);
    expect(() => (mine[5] as AIMessage).tool_calls!.push(call)).toThrow(TypeError);
    mine.pop();
    expect(yours).toHaveLength(MESSAGES.length);
    const own = await read(opened.saver);
    own[0]!.content = "changed";
    expect(yours[0]!.content).toBe("hello");
  });
});
