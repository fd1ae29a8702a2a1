import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import type { Operation, Store } from "../../src/store/store.ts";
import { ProgramModel } from "../helpers/checkpoints/program-model.ts";
import { openSaver } from "../helpers/checkpoints/saver.ts";

/** UTF-16 units and rows of everything that is kept for checkpoints. */
const kept: Operation<null, { units: number; rows: number }> = async (tx) => {
  const tables = [
    await tx.db.selectFrom("checkpoints").selectAll().execute(),
    await tx.db.selectFrom("checkpoint_writes").selectAll().execute(),
    await tx.db.selectFrom("checkpoint_bodies").selectAll().execute(),
    await tx.db.selectFrom("checkpoint_lists").selectAll().execute(),
    await tx.db.selectFrom("checkpoint_list_items").selectAll().execute(),
  ].flat();
  return { units: JSON.stringify(tables).length, rows: tables.length };
};

/** What each exchange added. */
async function growth(store: Store, { saver, size }: { saver: BaseCheckpointSaver; size: number }) {
  const look = tool(() => "z".repeat(400), {
    name: "look",
    description: "looks",
    schema: z.object({ at: z.number() }),
  });
  const model = new ProgramModel((messages) =>
    messages.at(-1)?.type === "human"
      ? new AIMessage({
          content: "",
          tool_calls: [1, 2, 3].map((at) => ({
            id: `${messages.length}-${at}`,
            name: "look",
            args: { at },
          })),
        })
      : new AIMessage(`after ${messages.length}`.padEnd(500)),
  );
  const agent = createAgent({ model, tools: [look], checkpointer: saver });
  const added: { units: number; rows: number }[] = [];
  let before = await store.read(kept, null);
  for (let index = 0; index < size; index += 1) {
    await agent.invoke(
      { messages: [new HumanMessage(`question ${index}`.padEnd(500))] },
      { configurable: { thread_id: "thread" }, durability: "sync" },
    );
    const after = await store.read(kept, null);
    added.push({ units: after.units - before.units, rows: after.rows - before.rows });
    before = after;
  }
  return added;
}

describe("the storage of checkpoints", () => {
  it("grows by the same amount for every exchange, with tools that are each sent the whole history", async () => {
    await using opened = await openSaver();
    const added = await growth(opened.store, { saver: opened.saver, size: 40 });
    const [early, late] = [added[3]!, added[39]!];
    expect(late.rows).toBe(early.rows);
    // numbers get longer: versions, ids, positions
    expect(late.units / early.units).toBeLessThan(1.05);
  });

  it("uses only a few nested lists, however often a thread is edited", async () => {
    await using opened = await openSaver();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("answer", () => ({ messages: [new AIMessage("answer")] }))
      .addEdge(START, "answer")
      .compile({ checkpointer: opened.saver });
    const config = { configurable: { thread_id: "thread" }, durability: "sync" as const };
    for (let index = 0; index < 40; index += 1) {
      const question = { id: `q${index}`, content: "question" };
      await graph.invoke({ messages: [new HumanMessage(question)] }, config);
      const edited = new HumanMessage({ ...question, content: "edited" });
      await graph.updateState(config, { messages: [edited] });
    }
    const lists = await opened.store.read(
      (tx) => tx.db.selectFrom("checkpoint_lists").select("depth").execute(),
      null,
    );
    expect(lists.length).toBeGreaterThanOrEqual(40);
    expect(Math.max(...lists.map(({ depth }) => depth))).toBe(15);
  });

  it("keeps each message's text once in its thread", async () => {
    await using opened = await openSaver();
    await growth(opened.store, { saver: opened.saver, size: 5 });
    const bodies = await opened.store.read(
      (tx) => tx.db.selectFrom("checkpoint_bodies").select("body").execute(),
      null,
    );
    for (let index = 0; index < 5; index += 1) {
      const holding = bodies.filter(({ body }) => body.includes(`"question ${index} `));
      expect(holding).toHaveLength(1);
    }
  });
});
