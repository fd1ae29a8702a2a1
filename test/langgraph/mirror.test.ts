import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { MessagesAnnotation, REMOVE_ALL_MESSAGES, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";

import { mirrorOf } from "../../src/store/records/messages/mirror-row.ts";
import { createCheckpointSaver } from "../../src/langgraph/saver.ts";
import type { Message } from "../../src/core/sessions.ts";
import { estimateTokens } from "../../src/core/text/text.ts";
import { threadId } from "../../src/core/threads.ts";
import { releaseLease, takeLease } from "../../src/store/records/leases/lease.ts";
import { appendUserMessage } from "../../src/store/records/messages/append.ts";
import { readMessagesAfter, readPending } from "../../src/store/records/messages/read.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { readSession } from "../../src/store/records/sessions/read.ts";
import type { Operation, Store } from "../../src/store/store.ts";
import { owner, refuseRows } from "../helpers/engines.ts";
import { openSaver } from "../helpers/checkpoints/saver.ts";

async function openSession(store: Store) {
  const { id } = await store.write(createSession, {});
  return {
    id,
    config: { configurable: { thread_id: threadId(id, 0) }, durability: "sync" as const },
  };
}

function graphOf(checkpointer: BaseCheckpointSaver, answers: () => BaseMessage[]) {
  return new StateGraph(MessagesAnnotation)
    .addNode("answer", () => ({ messages: answers() }))
    .addEdge(START, "answer")
    .compile({ checkpointer });
}

function mirrorOfSession(store: Store, session_id: string): Promise<readonly Message[]> {
  return store.read(readMessagesAfter, { session_id, after_seq: 0, all: true, limit: 1000 });
}

/** The rows that follow from the thread's latest checkpoint, as a verifier computes them. */
async function rowsOfThread(saver: BaseCheckpointSaver, config: object) {
  const tuple = await saver.getTuple(config);
  const messages = tuple?.checkpoint.channel_values["messages"] as BaseMessage[];
  return messages.map((_, index) => {
    const { usage: _usage, call_id = null, status = null, ...row } = mirrorOf(messages, index)!;
    return { ...row, call_id, status };
  });
}

function rowOf({ session_id: _s, seq: _q, archived: _a, ts: _t, ...row }: Message) {
  return row;
}

const rowCount: Operation<null, number> = async (tx) => {
  const rows = await tx.db.selectFrom("checkpoints").select("id").execute();
  const writes = await tx.db.selectFrom("checkpoint_writes").select("task_id").execute();
  const bodies = await tx.db.selectFrom("checkpoint_bodies").select("id").execute();
  return rows.length + writes.length + bodies.length;
};

describe("the mirror of the checkpoints", () => {
  it("holds every role, the tool calls and the provider's token count", async () => {
    await using opened = await openSaver();
    const { store, saver } = opened;
    const { id, config } = await openSession(store);
    const graph = graphOf(saver, () => [
      new AIMessage({
        id: "call",
        content: [
          { type: "text", text: "I " },
          { type: "reasoning", reasoning: "hidden" },
          { type: "text", text: "look" },
        ],
        tool_calls: [{ id: "c1", name: "look", args: { where: "here\0\ud800" } }],
        usage_metadata: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      }),
      new ToolMessage({ id: "result", content: "seen\0 \ud800", tool_call_id: "c1" }),
      new AIMessage({ id: "answer", content: "I saw it" }),
    ]);
    await graph.invoke(
      { messages: [new HumanMessage({ id: "question", content: "look" })] },
      config,
    );
    const rows = (await mirrorOfSession(store, id)).map(rowOf);
    expect(rows).toEqual(await rowsOfThread(saver, config));
    expect(rows).toMatchObject([
      { message_id: "question", role: "user", content: "look", tool_calls: null, token_count: 1 },
      {
        message_id: "call",
        role: "assistant",
        content: "I look",
        tool_calls: [{ id: "c1", name: "look", args: { where: "here\ufffd" } }],
        token_count: 3,
      },
      { message_id: "result", role: "tool", content: "seen \ufffd", is_summary: false },
      { message_id: "answer", role: "assistant", token_count: 2 },
    ]);
    const { total_input_tokens, total_output_tokens } = await store.read(readSession, { id });
    expect(total_input_tokens).toBe(7 + 1 + 3 + estimateTokens("seen \ufffd"));
    expect(total_output_tokens).toBe(3 + 2);
  });

  it("uses the existing row of a message that waited for the agent", async () => {
    await using opened = await openSaver();
    const { store, saver } = opened;
    const { id, config } = await openSession(store);
    const { message } = await store.write(appendUserMessage, { reference: id, content: "waiting" });
    const graph = graphOf(saver, () => [new AIMessage("taken up")]);
    await graph.invoke(
      { messages: [new HumanMessage({ id: message.message_id, content: "waiting" })] },
      config,
    );
    expect(await store.read(readPending, { session_id: id })).toEqual([]);
    const rows = await mirrorOfSession(store, id);
    expect(rows.map(({ seq, content }) => [seq, content])).toEqual([
      [1, "waiting"],
      [2, "taken up"],
    ]);
    expect(rows.map(rowOf)).toEqual(await rowsOfThread(saver, config));
  });

  it("keeps what is removed, changes what is edited, and gives a summary its own row", async () => {
    await using opened = await openSaver();
    const { store, saver } = opened;
    const { id, config } = await openSession(store);
    const graph = graphOf(saver, () => [new AIMessage({ content: "answer" })]);
    const ask = (messageId: string, content: string) => ({
      messages: [new HumanMessage({ id: messageId, content })],
    });
    await graph.invoke(ask("one", "first"), config);
    await graph.updateState(config, ask("one", "first, edited"));
    await graph.updateState(config, {
      messages: [
        new RemoveMessage({ id: REMOVE_ALL_MESSAGES }),
        new HumanMessage({
          id: "one",
          content: "all so far",
          additional_kwargs: { lc_source: "summarization" },
        }),
      ],
    });
    await graph.invoke(ask("two", "second"), config);
    const rows = await mirrorOfSession(store, id);
    expect(rows.map(({ seq, content, is_summary }) => [seq, content, is_summary])).toEqual([
      [1, "first, edited", false],
      [2, "answer", false],
      [3, "all so far", true],
      [4, "second", false],
      [5, "answer", false],
    ]);
    expect(rows.slice(2).map(rowOf)).toEqual(await rowsOfThread(saver, config));
  });

  it("does not touch the rows of messages that only move", async () => {
    await using opened = await openSaver();
    const { store, saver } = opened;
    const { id, config } = await openSession(store);
    const graph = graphOf(saver, () => [new AIMessage({ id: "answer", content: "answer" })]);
    await graph.invoke({ messages: [new HumanMessage({ id: "one", content: "one" })] }, config);
    await refuseRows(store, { table: "messages", on: "UPDATE" });
    await graph.updateState(config, { messages: [new RemoveMessage({ id: "one" })] });
    expect(await rowsOfThread(saver, config)).toHaveLength(1);
    expect(await mirrorOfSession(store, id)).toHaveLength(2);
  });

  it("counts an answer once, however often its checkpoint is put or forked", async () => {
    await using opened = await openSaver();
    const { store, saver } = opened;
    const { id, config } = await openSession(store);
    const graph = graphOf(saver, () => [
      new AIMessage({
        id: "answer",
        content: "same",
        usage_metadata: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
      }),
    ]);
    await graph.invoke({ messages: [new HumanMessage({ id: "q", content: "q" })] }, config);
    const history = await Array.fromAsync(graph.getStateHistory(config));
    const before = history.find(({ next }) => next.includes("answer"))!;
    await graph.invoke(null, { ...before.config, durability: "sync" });
    const tuple = (await saver.getTuple(config))!;
    await saver.put(tuple.parentConfig!, tuple.checkpoint, tuple.metadata!, { messages: 3 });
    expect(await mirrorOfSession(store, id)).toHaveLength(2);
    expect(await store.read(readSession, { id })).toMatchObject({
      total_input_tokens: 5,
      total_output_tokens: 2,
    });
  });

  it("is not written for subgraphs, nor for an unknown thread or session", async () => {
    await using opened = await openSaver();
    const { store, saver } = opened;
    const { id } = await openSession(store);
    const places = [
      { thread_id: threadId(id, 0), checkpoint_ns: "node:task" },
      { thread_id: "some thread" },
      { thread_id: threadId("00000000-0000-4000-8000-000000000000", 0) },
    ];
    for (const configurable of places) {
      const tuple = await saver.put(
        { configurable },
        {
          v: 4,
          id: "1",
          ts: "",
          channel_values: { messages: [new HumanMessage("hi")] },
          channel_versions: { messages: 1 },
          versions_seen: {},
        },
        { source: "loop", step: 0, parents: {} },
        { messages: 1 },
      );
      expect(await saver.getTuple(tuple)).toBeDefined();
    }
    expect(await mirrorOfSession(store, id)).toEqual([]);
  });
});

describe("the transaction of checkpoint and mirror", () => {
  it("stores no checkpoint when the mirror cannot be written", async () => {
    await using opened = await openSaver();
    const { store, saver } = opened;
    const { id, config } = await openSession(store);
    const graph = graphOf(saver, () => [new AIMessage("refused")]);
    const refusing = await refuseRows(store, {
      table: "messages",
      on: "INSERT",
      when: "NEW.role = 'assistant'",
    });
    await expect(
      graph.invoke({ messages: [new HumanMessage({ id: "q", content: "q" })] }, config),
    ).rejects.toThrow("refused");
    expect((await mirrorOfSession(store, id)).map(({ role }) => role)).toEqual(["user"]);
    expect((await rowsOfThread(saver, config)).map(({ role }) => role)).toEqual(["user"]);

    await refusing.stop();
    await graph.invoke(null, config);
    expect((await mirrorOfSession(store, id)).map(rowOf)).toEqual(
      await rowsOfThread(saver, config),
    );
  });

  it("changes nothing after another process has taken the lease", async () => {
    await using opened = await openSaver();
    const { store } = opened;
    const { id, config } = await openSession(store);
    const fence = await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const saver = createCheckpointSaver({ store, fence: () => fence });
    const graph = graphOf(saver, () => [new AIMessage("held")]);
    await graph.invoke({ messages: [new HumanMessage("while held")] }, config);
    await store.write(releaseLease, { fence, finished: true });
    await store.write(takeLease, { session_id: id, owner, life_ms: 60_000 });
    const before = await store.read(rowCount, null);
    const rows = await mirrorOfSession(store, id);

    await expect(
      graph.invoke({ messages: [new HumanMessage("too late")] }, config),
    ).rejects.toMatchObject({ code: "lease_lost" });
    const latest = (await saver.getTuple(config))!;
    await expect(
      saver.putWrites(latest.config, [["messages", new AIMessage("late")]], "task"),
    ).rejects.toMatchObject({ code: "lease_lost" });
    await expect(saver.deleteThread(threadId(id, 0))).rejects.toMatchObject({ code: "lease_lost" });
    expect(await store.read(rowCount, null)).toBe(before);
    expect(await mirrorOfSession(store, id)).toEqual(rows);
  });
});
