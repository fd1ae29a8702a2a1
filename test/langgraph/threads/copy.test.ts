import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";

import { RepriseSaver } from "../../../src/entries/langgraph.ts";
import { readVerification } from "../../../src/store/verify/read.ts";
import { holdSession } from "../../helpers/checkpoints/saver.ts";
import { readKept } from "../../helpers/checkpoints/kept.ts";
import { describeEngine, newSession } from "../../helpers/engines.ts";
import { putMessages, startOf } from "../../helpers/sessions/thread.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { threadId } from "../../../src/core/threads.ts";

const thread = (thread_id: string) => ({
  configurable: { thread_id },
  durability: "sync" as const,
});
const say = (text: string) => ({ messages: [new HumanMessage({ content: text, id: text })] });

function askingGraph(saver: RepriseSaver) {
  return new StateGraph(MessagesAnnotation)
    .addNode("echo", ({ messages }) => ({ messages: [new AIMessage(`after ${messages.length}`)] }))
    .addNode("ask", () => ({ messages: [new AIMessage(`answer ${String(interrupt("which?"))}`)] }))
    .addEdge(START, "echo")
    .addEdge("echo", "ask")
    .compile({ checkpointer: saver });
}

describeEngine("copying a thread", (engine) => {
  it("[THREAD-10] copies every checkpoint and pending write, and both threads go their own way", async () => {
    const { open } = await engine.create();
    const store = await open();
    const saver = RepriseSaver.from(store);
    const graph = askingGraph(saver);
    await graph.invoke(say("one"), thread("from"));
    await graph.invoke(new Command({ resume: "1" }), thread("from"));
    await graph.invoke(say("one"), thread("from")); // edits a message: a second list
    const [, , fork] = await Array.fromAsync(graph.getStateHistory(thread("from")));
    await graph.invoke(say("two"), { ...fork!.config, durability: "sync" });
    await saver.copyThread("from", "to: the copy");

    const read = async (id: string) =>
      (await Array.fromAsync(saver.list({ configurable: { thread_id: id } }))).map((tuple) =>
        JSON.parse(JSON.stringify(tuple).replaceAll(`"${id}"`, '"id"')),
      );
    const before = await read("from");
    expect(before.length).toBeGreaterThan(8);
    expect(await read("to: the copy")).toEqual(before);
    // numbers of rows have more digits
    const same = { thread_id: "", bytes: 0 };
    expect({ ...(await saver.stats("to: the copy")), ...same }).toEqual({
      ...(await saver.stats("from")),
      ...same,
    });
    await askingGraph(RepriseSaver.from(store)).invoke(
      new Command({ resume: "2" }),
      thread("to: the copy"),
    );
    expect(await read("from")).toEqual(before);
    const { messages } = await graph.invoke(new Command({ resume: "3" }), thread("from"));
    expect(messages.at(-1)?.text).toBe("answer 3");
    await saver.deleteThread("from");
    const copied = await graph.getState(thread("to: the copy"));
    expect(copied.values).toMatchObject({ messages: { length: messages.length } });
    expect((await store.read(readKept, null)).dangling).toEqual([]);
  });

  it("[THREAD-11] copies a session's thread to one without a session, and refuses what exists or is missing", async () => {
    const { open } = await engine.create();
    const store = await open();
    const fence = await holdSession(store);
    const from = threadId(fence.session_id, 0);
    await putMessages(createCheckpointSaver({ store }).holding(fence), {
      after: startOf(from),
      messages: [new HumanMessage({ id: "q", content: "question" })],
      version: 1,
    });
    const saver = RepriseSaver.from(store);
    await saver.copyThread(from, "copy");
    expect(await saver.stats("copy")).toMatchObject({ session_id: null, messages: 1 });
    expect(await saver.stats(from)).toMatchObject({ session_id: fence.session_id, messages: 1 });
    await expect(saver.copyThread(from, "copy")).rejects.toMatchObject({ code: "thread_exists" });
    const missing = { code: "thread_not_found" };
    await expect(saver.copyThread("missing", "other")).rejects.toMatchObject(missing);
    await expect(saver.stats("other")).rejects.toMatchObject(missing);
    const { id } = await newSession(store);
    const ofSession = { code: "thread_of_session" };
    await expect(saver.copyThread("copy", `${id}:3`)).rejects.toMatchObject(ofSession);
    // no thread of a session has such an id
    await saver.copyThread("copy", `${id}:03`);
    const { threads } = await store.read(readVerification, { session_id: id, removed: false });
    expect(threads).toEqual([]);
  });
});
