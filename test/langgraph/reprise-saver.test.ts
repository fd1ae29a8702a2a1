import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { AIMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";

import { RepriseSaver } from "../../src/entries/langgraph.ts";
import { describeEngine } from "../helpers/engines.ts";
import { temporaryFolder } from "../helpers/temp.ts";

function echoGraph(saver: RepriseSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode("echo", ({ messages }) => ({
      messages: [new AIMessage(`${messages.length}: ${messages.at(-1)?.text}`)],
    }))
    .addEdge(START, "echo")
    .compile({ checkpointer: saver });
}

const thread = { configurable: { thread_id: "thread" } };
const say = (text: string) => ({ messages: [{ role: "user", content: text }] });

describeEngine("RepriseSaver", (engine) => {
  it("[SAVER-1] opens its database at the first call and is closed by `await using`", async () => {
    const { location } = await engine.create();
    {
      await using saver = new RepriseSaver(location);
      await echoGraph(saver).invoke(say("one"), thread);
    }
    await using later = new RepriseSaver(location);
    const { messages } = await echoGraph(later).invoke(say("two"), thread);
    expect(messages.map(({ text }) => text)).toEqual(["one", "1: one", "two", "3: two"]);
  });

  it("[GRAPH-44] lists everything if the filter is null, as LangGraph's own savers do", async () => {
    const { location } = await engine.create();
    await using saver = new RepriseSaver(location);
    await echoGraph(saver).invoke(say("one"), thread);
    const all = await Array.fromAsync(saver.list(thread));
    const options = { filter: null } as unknown as { filter?: object };
    expect(await Array.fromAsync(saver.list(thread, options))).toHaveLength(all.length);
  });

  it("[SAVER-2] finishes what was accepted, and refuses what comes after its end", async () => {
    const { location } = await engine.create();
    const saver = new RepriseSaver(location);
    const checkpoint = emptyCheckpoint();
    const accepted = saver.put(thread, checkpoint, { source: "input", step: -1, parents: {} }, {});
    await Promise.all([saver.end(), saver.end()]);
    await saver.end();
    await accepted;
    const closed = { code: "shutting_down" };
    await expect(saver.getTuple(thread)).rejects.toMatchObject(closed);
    await expect(saver.list(thread).next()).rejects.toMatchObject(closed);
    await expect(saver.deleteThread("thread")).rejects.toMatchObject(closed);
    await expect(echoGraph(saver).invoke(say("one"), thread)).rejects.toMatchObject(closed);
    await using other = new RepriseSaver(location);
    expect((await other.get(thread))?.id).toBe(checkpoint.id);
  });

  it("[SAVER-2] leaves a store open that it was given", async () => {
    const { open } = await engine.create();
    const store = await open();
    const saver = RepriseSaver.from(store);
    await echoGraph(saver).invoke(say("one"), thread);
    await saver.end();
    await expect(saver.getTuple(thread)).rejects.toMatchObject({ code: "shutting_down" });
    const other = RepriseSaver.from(store);
    await expect(echoGraph(other).invoke(say("two"), thread)).resolves.toMatchObject({
      messages: { length: 4 },
    });
  });
});

it("[SAVER-1] opens nothing before the first call, and again after it could not be opened", async () => {
  const path = join(temporaryFolder(), "folder", "data.db");
  writeFileSync(dirname(path), "a file in the way");
  const saver = new RepriseSaver(path);
  const [first, second] = await Promise.allSettled([
    saver.getTuple(thread),
    saver.getTuple(thread),
  ]);
  expect(first).toMatchObject({ status: "rejected", reason: { code: "database_unavailable" } });
  expect(second).toEqual(first);
  rmSync(dirname(path));
  mkdirSync(dirname(path));
  await expect(saver.getTuple(thread)).resolves.toBe(undefined);
  expect(existsSync(path)).toBe(true);
  await saver.end();
});

it("[SAVER-1] needs no database to be ended", async () => {
  const path = join(temporaryFolder(), "data.db");
  await new RepriseSaver(path).end();
  expect(existsSync(path)).toBe(false);
});

it("[PACK-11] takes nothing but a store", () => {
  const close = () => Promise.resolve();
  const other = { location: "x", close, [Symbol.asyncDispose]: close };
  expect(() => RepriseSaver.from(other)).toThrow(
    expect.objectContaining({ code: "invalid_usage" }),
  );
});
