import { AIMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  interrupt,
  DeltaValue,
  MessagesAnnotation,
  Send,
  START,
  StateSchema,
  type StateSnapshot,
  StateGraph,
} from "@langchain/langgraph";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { z } from "zod";

import { RepriseSaver } from "../../../src/entries/langgraph.ts";
import { readKept } from "../../helpers/checkpoints/kept.ts";
import { describeEngine, type Engine, newSession } from "../../helpers/engines.ts";

const config = { configurable: { thread_id: "thread" }, durability: "sync" as const };
const say = (text: string) => ({ messages: [new HumanMessage({ content: text, id: text })] });

async function open(engine: Engine) {
  const database = await engine.create();
  const store = await database.open();
  return { store, saver: RepriseSaver.from(store), other: RepriseSaver.from(store) };
}

function echoGraph(saver: RepriseSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode("echo", ({ messages }) => ({ messages: [new AIMessage(`after ${messages.length}`)] }))
    .addEdge(START, "echo")
    .compile({ checkpointer: saver });
}

const texts = ({ messages }: { messages: readonly { text: string }[] }) =>
  messages.map(({ text }) => text);

/** What a person sees of a state, without the objects that are made at each read. */
function shown({ values, next, config, parentConfig, metadata, tasks }: StateSnapshot) {
  return JSON.parse(
    JSON.stringify({ values, next, config: config.configurable, parentConfig, metadata, tasks }),
  );
}

async function history(graph: {
  getStateHistory(given: typeof config): AsyncIterable<StateSnapshot>;
}) {
  return (await Array.fromAsync(graph.getStateHistory(config))).map(shown);
}

describeEngine("pruning a thread", (engine) => {
  it("[THREAD-1] keeps the latest checkpoints of each branch as they were, and nothing that only others had", async () => {
    const { saver, store } = await open(engine);
    const graph = echoGraph(saver);
    for (const text of ["one", "two", "three"]) {
      await graph.invoke(say(text), config);
    }
    const [, , , fork] = await Array.fromAsync(graph.getStateHistory(config));
    await graph.invoke(say("other"), { ...fork!.config, durability: "sync" });
    const before = await history(graph);
    const { checkpoints } = await saver.prune("thread", { keep: 2 });
    const after = await history(graph);
    expect(after).toEqual([before[0], before[1], before[3], before[4]]);
    expect(checkpoints).toBe(before.length - 4);
    const kept = await store.read(readKept, null);
    expect(kept.dangling).toEqual([]);
    expect(texts(await graph.invoke(say("more"), config)).slice(-2)).toEqual(["more", "after 7"]);
    expect(await saver.prune("thread", { keep: 2 })).toMatchObject({ checkpoints: 3 });
  });

  it("[THREAD-2] deletes messages and values that no kept checkpoint has", async () => {
    const { saver, store } = await open(engine);
    const graph = echoGraph(saver);
    for (let index = 0; index < 20; index += 1) {
      await graph.invoke(say(`question ${index}`.padEnd(500)), config);
    }
    const { messages } = (await graph.getState(config)).values as typeof MessagesAnnotation.State;
    const removed = messages.map(({ id }) => new RemoveMessage({ id: id! }));
    await graph.updateState(config, { messages: [...removed, new HumanMessage("a summary")] });
    const large = await saver.stats("thread");
    const pruned = await saver.prune("thread");
    const small = await saver.stats("thread");
    expect(pruned).toEqual({
      checkpoints: large.checkpoints - 1,
      bytes: large.bytes - small.bytes,
    });
    expect(small).toMatchObject({ checkpoints: 1, messages: 1, branches: 1 });
    expect(small.bytes).toBeLessThan(2500);
    const kept = await store.read(readKept, null);
    expect(kept).toMatchObject({ writes: 0, lists: 1, dangling: [] });
    expect(texts((await graph.getState(config)).values)).toEqual(["a summary"]);
  });

  it("[THREAD-2] deletes the chunks of large values that no kept checkpoint has", async () => {
    const { saver, store } = await open(engine);
    const State = Annotation.Root({ text: Annotation<string> });
    const graph = new StateGraph(State)
      .addNode("edit", ({ text }) => ({ text: text.replace(/line \d+ /, "edited ") }))
      .addEdge(START, "edit")
      .compile({ checkpointer: saver });
    const lines = Array.from({ length: 1000 }, (_, index) => `line ${index} ${"x".repeat(40)}\n`);
    let text = lines.join("");
    for (let index = 0; index < 20; index += 1) {
      ({ text } = await graph.invoke({ text }, config));
    }
    await saver.prune("thread");
    const { bytes } = await saver.stats("thread");
    expect(bytes).toBeLessThan(1.2 * text.length);
    expect((await store.read(readKept, null)).dangling).toEqual([]);
    expect((await graph.getState(config)).values).toEqual({ text });
    const edited = await graph.invoke({ text }, config);
    expect(edited.text).toBe(text.replace(/line \d+ /, "edited "));
  });

  it("[THREAD-3] keeps an open interrupt, its subgraphs and their memories, and resumes them", async () => {
    const { saver, other } = await open(engine);
    const State = Annotation.Root({
      log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const build = (checkpointer: RepriseSaver) => {
      const memory = new StateGraph(State)
        .addNode("count", ({ log }) => ({ log: [`memory ${log.length}`] }))
        .addEdge(START, "count")
        .compile({ checkpointer: true });
      const asking = new StateGraph(State)
        .addNode("first", () => ({ log: ["first"] }))
        .addNode("ask", () => ({ log: [`answer ${String(interrupt("which?"))}`] }))
        .addEdge(START, "first")
        .addEdge("first", "ask")
        .compile();
      return new StateGraph(State)
        .addNode("memory", async () => {
          const { log } = await memory.invoke({ log: ["asked"] });
          return { log: [log.join("/")] };
        })
        .addNode("asking", asking)
        .addEdge(START, "memory")
        .addEdge("memory", "asking")
        .compile({ checkpointer });
    };
    const graph = build(saver);
    await graph.invoke({ log: ["begin"] }, config);
    await graph.invoke(new Command({ resume: "one" }), config);
    await graph.invoke({ log: ["again"] }, config);
    const before = await graph.getState(config, { subgraphs: true });
    expect(before.next).toEqual(["asking"]);
    const { checkpoints } = await saver.prune("thread");
    expect(checkpoints).toBeGreaterThan(8);
    expect(shown(await graph.getState(config, { subgraphs: true }))).toEqual(shown(before));
    expect(await saver.stats("thread")).toMatchObject({ interrupted: true, branches: 1 });
    const { log } = await build(other).invoke(new Command({ resume: "two" }), config);
    expect(log.slice(-2)).toEqual(["first", "answer two"]);
    await saver.prune("thread");
    expect(await saver.stats("thread")).toMatchObject({ interrupted: false });
    const third = await build(other).invoke({ log: ["third"] }, config);
    expect(third.log.at(-1)).toBe("asked/memory 1/asked/memory 3/asked/memory 5");
  });

  it("[THREAD-3] replays a kept checkpoint with the memory that its subgraph had then", async () => {
    const answers: string[] = [];
    for (const pruning of [false, true]) {
      const { saver } = await open(engine);
      const State = Annotation.Root({
        log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
      });
      const memory = new StateGraph(State)
        .addNode("count", ({ log }) => ({ log: [`memory ${log.length}`] }))
        .addEdge(START, "count")
        .compile({ checkpointer: true });
      const graph = new StateGraph(State)
        .addNode("memory", async () => {
          const { log } = await memory.invoke({ log: ["asked"] });
          return { log: [log.join("/")] };
        })
        .addNode("after", () => ({ log: ["after"] }))
        .addEdge(START, "memory")
        .addEdge("memory", "after")
        .compile({ checkpointer: saver });
      for (const text of ["one", "two", "three"]) {
        await graph.invoke({ log: [text] }, config);
      }
      const [, , beforeMemory] = await Array.fromAsync(graph.getStateHistory(config));
      expect(beforeMemory!.next).toEqual(["memory"]);
      if (pruning) {
        await saver.prune("thread", { keep: 3 });
        await saver.prune("thread", { keep: 3 });
      }
      const { log } = await graph.invoke(null, { ...beforeMemory!.config, durability: "sync" });
      answers.push(log.join());
    }
    expect(answers[1]).toBe(answers[0]);
    expect(answers[1]).toContain("three,asked/memory 1/asked/memory 3/asked/memory 5,after");
  });

  it("[THREAD-4] keeps the ancestors that a delta channel is rebuilt from", async () => {
    const { saver, other } = await open(engine);
    const State = new StateSchema({
      log: new DeltaValue(
        z.array(z.string()).default(() => []),
        {
          inputSchema: z.string(),
          reducer: (log: string[], more: readonly string[]) => [...log, ...more],
          snapshotFrequency: 5,
        },
      ),
    });
    const build = (checkpointer: RepriseSaver) =>
      new StateGraph(State)
        .addNode("count", ({ log }) => ({ log: `count ${log.length}` }))
        .addEdge(START, "count")
        .compile({ checkpointer });
    const expected: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      const checkpointer = index % 2 === 0 ? saver : other;
      const { log } = await build(checkpointer).invoke({ log: `input ${index}` }, config);
      expected.push(`input ${index}`, `count ${2 * index + 1}`);
      expect(log).toEqual(expected);
      await saver.prune("thread");
      expect((await saver.stats("thread")).checkpoints).toBeLessThan(12);
    }
  });
});

// on PostgreSQL in the torture only: it writes as often as all others together
describeEngine("pruning a thread at every moment", (engine) => {
  it.each(["sync", "async", "exit"] as const)(
    "[THREAD-5] does not change the result of a run, when it prunes between all its writes (%s)",
    async (durability) => {
      const { saver, other, store } = await open(engine);
      const pruned = pruningBefore(saver, () => other.prune("thread"));
      const State = Annotation.Root({
        ...MessagesAnnotation.spec,
        log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
      });
      const build = (checkpointer: BaseCheckpointSaver) => {
        const inner = new StateGraph(State)
          .addNode("deep", ({ messages }) => ({
            messages: [new AIMessage({ id: `deep ${messages.length}`, content: "deep" })],
            log: ["deep"],
          }))
          .addNode("ask", () => ({ log: [`answer ${String(interrupt("which?"))}`] }))
          .addEdge(START, "deep")
          .addEdge("deep", "ask")
          .compile();
        return new StateGraph(State)
          .addNode("fan", () => ({ log: ["fan"] }))
          .addNode("part", ({ log }) => ({ log: [`part ${log.length}`] }))
          .addNode("inner", inner)
          .addEdge(START, "fan")
          .addConditionalEdges(
            "fan",
            ({ messages, log }) => [1, 2, 3].map(() => new Send("part", { messages, log })),
            ["part"],
          )
          .addEdge("part", "inner")
          .compile({ checkpointer });
      };
      const memory = new MemorySaver();
      for (let index = 0; index < 3; index += 1) {
        const resume = new Command<number, Record<string, unknown>, "fan">({ resume: index });
        for (const input of [say(`${"question ".repeat(20)}${index}`), resume]) {
          const given = { ...config, durability };
          const ours = await build(pruned).invoke(input, given);
          const theirs = await build(memory).invoke(input, given);
          expect(texts(ours)).toEqual(texts(theirs));
          expect(ours.log).toEqual(theirs.log);
        }
      }
      await other.prune("thread");
      const kept = await store.read(readKept, null);
      expect(kept).toMatchObject({ dangling: [], checkpoints: { length: 1 } });
    },
  );

  it("[THREAD-6] [SAVER-46] is refused for a thread of a session, and with options that are none", async () => {
    const { saver, store } = await open(engine);
    const { id } = await newSession(store);
    const refused = {
      code: "thread_of_session",
      message: expect.stringMatching(/sessions delete.*, or choose another thread id\.$/) as string,
    };
    const thread_id = `${id}:0`;
    await expect(saver.prune(thread_id)).rejects.toMatchObject(refused);
    await expect(saver.deleteThread(thread_id)).rejects.toMatchObject(refused);
    await expect(saver.copyThread("thread", thread_id)).rejects.toMatchObject({
      code: "thread_of_session",
      message: expect.stringMatching(/ Choose another thread id, or another database\.$/) as string,
    });
    expect(await saver.prune("no such thread")).toEqual({ checkpoints: 0, bytes: 0 });
    const none = null as never;
    const notObject = { code: "invalid_usage" };
    await expect(saver.prune("thread", none)).rejects.toMatchObject(notObject);
    await expect(saver.threads(none)).rejects.toMatchObject(notObject);
    await expect(saver.deleteOlderThan(1, none)).rejects.toMatchObject(notObject);
    for (const keep of [0, 1.5, -1, Number.NaN]) {
      const message = "`keep` must be a whole number, 1 or more.";
      const invalid = { code: "invalid_usage", message };
      await expect(saver.prune("thread", { keep })).rejects.toMatchObject(invalid);
    }
  });
});

/** Runs something before each write of a saver. */
function pruningBefore(
  saver: BaseCheckpointSaver,
  prune: () => Promise<unknown>,
): BaseCheckpointSaver {
  return new Proxy(saver, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") {
        return member;
      }
      return name === "put" || name === "putWrites"
        ? async (...given: unknown[]) => {
            await prune();
            return Reflect.apply(member, target, given);
          }
        : member.bind(target);
    },
  });
}
