import { AIMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { expect, it } from "vitest";

import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { newId } from "../../../src/core/ids.ts";
import { pruneThread } from "../../../src/store/checkpoints/prune.ts";
import { takeLease } from "../../../src/store/records/leases/lease.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { openSaver, type TestSaver } from "../../helpers/checkpoints/saver.ts";
import { readKept } from "../../helpers/checkpoints/kept.ts";
import { testSize } from "../../helpers/size.ts";

const config = { configurable: { thread_id: "thread" }, durability: "sync" as const };

/** Sends to tasks, has a graph inside one, and changes a value that is too long to be inline. */
function busyGraph(checkpointer: TestSaver["saver"] | MemorySaver) {
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    notes: Annotation<string>({ reducer: (_, note) => note, default: () => "" }),
  });
  const inner = new StateGraph(State)
    .addNode("think", ({ notes }) => ({ notes: `${notes}.`.padStart(200, "x") }))
    .addNode("say", ({ messages }) => ({
      messages: [new AIMessage({ id: `say-${messages.length}`, content: "inside" })],
    }))
    .addEdge(START, "think")
    .addEdge("think", "say")
    .compile();
  return new StateGraph(State)
    .addNode("inner", inner)
    .addNode("part", () => ({ messages: [] }))
    .addNode("answer", ({ messages }) => {
      const [first] = messages;
      const id = `answer-${messages.length}-${messages.at(-1)?.id ?? ""}`;
      const answer = new AIMessage({ id, content: `after ${messages.length}` });
      return messages.length % 5 === 4 && first?.id !== undefined
        ? { messages: [new RemoveMessage({ id: first.id }), answer] }
        : { messages: [answer] };
    })
    .addEdge(START, "inner")
    .addConditionalEdges("inner", (state) => [
      new Send("part", { ...state, notes: "y".repeat(150) }),
      new Send("part", { ...state, notes: "z" }),
    ])
    .addEdge("part", "answer")
    .compile({ checkpointer });
}

const ask = (id: string, edits: string | null = null) => ({
  messages: [new HumanMessage({ id: edits ?? id, content: `question ${id}` })],
});

it("[LONG-1] reads as MemorySaver's latest after any exchanges, edits and pruning", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ edits: fc.option(fc.nat(3)), folds: fc.boolean(), elsewhere: fc.boolean() }),
        { minLength: 1, maxLength: 6 },
      ),
      async (exchanges) => {
        await using opened = await openSaver();
        const memory = new MemorySaver();
        // remembers what the first one prunes
        const other = createCheckpointSaver({ store: opened.store });
        for (const [index, { edits, folds, elsewhere }] of exchanges.entries()) {
          const input = ask(`q${index}`, edits === null ? null : `q${edits}`);
          const { saver } = opened;
          await busyGraph(elsewhere ? other : saver).invoke(input, config);
          await busyGraph(memory).invoke(input, config);
          if (folds) {
            const folded = await opened.store.write(pruneThread, {
              thread_id: "thread",
              fence: null,
            });
            opened.saver.forgetPruned("thread", folded);
          }
          const [ours, theirs] = [await saver.getTuple(config), await memory.getTuple(config)];
          expect(plain(ours?.checkpoint.channel_values)).toEqual(
            plain(theirs?.checkpoint.channel_values),
          );
          expect(ours?.pendingWrites).toEqual([]);
          expect((await opened.store.read(readKept, null)).dangling).toEqual([]);
        }
      },
    ),
    { numRuns: testSize("threads") },
  );
});

it("[LONG-1] [LONG-12] prunes sub-graphs, their writes and long values, in constant space", async () => {
  await using opened = await openSaver();
  const sizes = [];
  for (let index = 0; index < 8; index += 1) {
    await busyGraph(opened.saver).invoke(ask(`q${index}`), config);
    opened.saver.forgetPruned(
      "thread",
      await opened.store.write(pruneThread, { thread_id: "thread", fence: null }),
    );
    const kept = await opened.store.read(readKept, null);
    expect(kept.checkpoints.filter(({ ns }) => ns !== "")).toEqual([]);
    expect(kept.checkpoints).toHaveLength(index + 1);
    expect(kept.writes).toBe(0);
    sizes.push(kept.bodies);
  }
  expect(sizes[7]! - sizes[6]!).toBe(sizes[5]! - sizes[4]!);
});

it("[LONG-1] keeps the checkpoint that a branch begins from", async () => {
  await using opened = await openSaver();
  const { saver, store } = opened;
  await busyGraph(saver).invoke(ask("q0"), config);
  await store.write(pruneThread, { thread_id: "thread", fence: null });
  await busyGraph(saver).invoke(ask("q1"), config);
  const inner = (
    await Array.fromAsync(
      saver.list({ ...config, configurable: { thread_id: "thread", checkpoint_ns: "" } }),
    )
  )[2]!;
  const fork = await busyGraph(saver).updateState(inner.config, ask("fork"), "answer");
  await busyGraph(saver).invoke(ask("q2"), config);
  const folded = await store.write(pruneThread, { thread_id: "thread", fence: null });
  saver.forgetPruned("thread", folded);
  const kept = await store.read(readKept, null);
  expect(kept.dangling).toEqual([]);
  // the fork is the latest's own past; the branch that it left stays whole
  const ids = new Set(kept.checkpoints.map(({ checkpoint_id }) => checkpoint_id));
  expect(ids.has(String(inner.config.configurable?.["checkpoint_id"]))).toBe(true);
  expect(ids.has(String(fork.configurable?.["checkpoint_id"]))).toBe(false);
  for (const { parent_id } of kept.checkpoints) {
    expect(parent_id === null || ids.has(parent_id)).toBe(true);
  }
});

it("[LONG-1] keeps what a graph with a separate memory needs", async () => {
  await using opened = await openSaver();
  const { saver, store } = opened;
  const notes = Annotation<string>();
  const State = Annotation.Root({ ...MessagesAnnotation.spec, notes });
  const inner = new StateGraph(State)
    .addNode("see", ({ messages }) => ({ messages: [new AIMessage(`after ${messages.length}`)] }))
    .addEdge(START, "see")
    .compile({ checkpointer: true });
  const graph = new StateGraph(State)
    .addNode("inner", inner)
    .addNode("note", () => ({ notes: "y".repeat(150) }))
    .addEdge(START, "inner")
    .addEdge("inner", "note")
    .compile({ checkpointer: saver });
  for (const id of ["q0", "q1"]) {
    // both graphs have the first note, and refer to the same text of it
    await graph.invoke({ ...ask(id), notes: id.padEnd(150) }, config);
    const pruned = await store.write(pruneThread, { thread_id: "thread", fence: null });
    saver.forgetPruned("thread", pruned);
    expect((await store.read(readKept, null)).dangling).toEqual([]);
  }
  const own = { ...config, configurable: { thread_id: "thread", checkpoint_ns: "inner" } };
  expect((await saver.getTuple(own))?.checkpoint.channel_values).toMatchObject({
    notes: "q1".padEnd(150),
  });
});

it("[LONG-1] changes nothing when it is repeated, and nothing without the lease", async () => {
  await using opened = await openSaver();
  const { saver, store } = opened;
  await busyGraph(saver).invoke(ask("q0"), config);
  const session = await store.write(createSession, { id: newId() });
  const lease = await store.write(takeLease, {
    session_id: session.id,
    life_ms: 60_000,
    owner: { host: "h", machine: "m", pid: 1, command: "c", since: "" },
  });
  const before = await store.read(readKept, null);
  await expect(
    store.write(pruneThread, { thread_id: "thread", fence: { ...lease, epoch: lease.epoch - 1 } }),
  ).rejects.toMatchObject({ code: "lease_lost" });
  expect(await store.read(readKept, null)).toEqual(before);
  await store.write(pruneThread, { thread_id: "thread", fence: lease });
  const once = await store.read(readKept, null);
  expect(once.checkpoints).toHaveLength(1);
  expect(
    (await store.write(pruneThread, { thread_id: "thread", fence: lease })).checkpoints,
  ).toEqual([]);
  expect(await store.read(readKept, null)).toEqual(once);
});

/** Messages by what they say. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}
