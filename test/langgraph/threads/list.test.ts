import { HumanMessage } from "@langchain/core/messages";
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { sql } from "kysely";
import { expect, it } from "vitest";

import { RepriseSaver } from "../../../src/entries/langgraph.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import {
  deleteOldThreads,
  readOldThreads,
} from "../../../src/store/checkpoints/threads/delete-old-threads.ts";
import type { Operation } from "../../../src/store/store.ts";
import { holdSession } from "../../helpers/checkpoints/saver.ts";
import { describeEngine, type Engine, execute } from "../../helpers/engines.ts";
import { putMessages, startOf } from "../../helpers/sessions/thread.ts";

const DAY = 24 * 3_600_000;

async function open(engine: Engine) {
  const database = await engine.create();
  const store = await database.open();
  return { store, saver: RepriseSaver.from(store) };
}

const put = (saver: RepriseSaver, thread_id: string) =>
  putMessages(saver, {
    after: startOf(thread_id),
    messages: [new HumanMessage({ id: "q", content: thread_id })],
    version: 1,
  });

async function idsOf(saver: RepriseSaver, options = {}) {
  const { threads } = await saver.threads(options);
  return threads.map(({ thread_id }) => thread_id);
}

const clockMovedBy: Operation<number, string | undefined> = async ({ db, dialect }, ms) => {
  const { rows } = await sql<{ at: string }>`SELECT ${dialect.now(ms)} AS at`.execute(db);
  return rows[0]?.at;
};

describeEngine("threads without a session", (engine) => {
  it("[THREAD-7] are listed page by page, latest first, without the threads of sessions", async () => {
    const { store, saver } = await open(engine);
    const fence = await holdSession(store);
    const ofSession = `${fence.session_id}:0`;
    await putMessages(createCheckpointSaver({ store }).holding(fence), {
      after: startOf(ofSession),
      messages: [],
      version: 1,
    });
    const lookalikes = [
      `${fence.session_id}:00`,
      `${fence.session_id}:0x`,
      `${fence.session_id}:1234567890`,
      `${fence.session_id}:`,
      fence.session_id,
      `${fence.session_id.replace(/./, "z")}:0`,
      "00000000-0000-4000-8000-000000000000:0",
    ];
    const ids = ["a", "ü 🙂 'quoted' %_", ...lookalikes, "last"];
    for (const id of ids) {
      await put(saver, id);
    }
    await put(saver, "a");
    const order = ["a", ...ids.slice(1).toReversed()];
    expect(await idsOf(saver)).toEqual(order);
    expect(await idsOf(saver, { sessions: true })).toEqual([...order, ofSession]);
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await saver.threads({ limit: 4, ...(cursor === null ? {} : { cursor }) });
      paged.push(...page.threads.map(({ thread_id }) => thread_id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(paged).toEqual(order);
    const [first] = (await saver.threads({ limit: 1 })).threads;
    expect(first).toEqual({
      thread_id: "a",
      session_id: null,
      messages: 1,
      last_checkpoint_at: (await saver.stats("a")).last_checkpoint_at,
    });
    for (const options of [{ limit: 0 }, { cursor: "" }, { cursor: "W10" }, { cursor: "%" }]) {
      await expect(saver.threads(options)).rejects.toMatchObject({ code: "invalid_usage" });
    }
  });

  it("[THREAD-8] are deleted by age, without those that are interrupted or used again", async () => {
    const { store, saver } = await open(engine);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("ask", () => ({ messages: [String(interrupt("which?"))] }))
      .addNode("fail", () => {
        throw new Error("failed");
      })
      .addConditionalEdges(START, ({ messages }) => messages[0]!.text, ["ask", "fail"]);
    const config = (thread_id: string) => ({ configurable: { thread_id } });
    const asks = graph.compile({ checkpointer: saver });
    await asks.invoke({ messages: ["ask"] }, config("asks"));
    await expect(asks.invoke({ messages: ["fail"] }, config("failed"))).rejects.toThrow("failed");
    await graph
      .compile({ checkpointer: saver, interruptBefore: ["ask"] })
      .invoke({ messages: ["ask"] }, config("stopped before a node"));
    const fence = await holdSession(store);
    await putMessages(createCheckpointSaver({ store }).holding(fence), {
      after: startOf(`${fence.session_id}:0`),
      messages: [],
      version: 1,
    });
    for (let index = 0; index < 60; index += 1) {
      await put(saver, `done ${index}`);
    }
    const old = new Date(Date.now() - 2 * DAY).toISOString();
    await execute(store, "UPDATE checkpoints SET ts = ?", old);
    await put(saver, "done 0");
    await saver.put(
      { configurable: { thread_id: "done 1", checkpoint_ns: "sub" } },
      emptyCheckpoint(),
      { source: "loop", step: 0, parents: {} },
      {},
    );
    const interrupted = ["stopped before a node", "asks"];

    expect(await saver.deleteOlderThan(3 * DAY)).toBe(0);
    expect(await saver.deleteOlderThan(DAY)).toBe(59);
    expect(await idsOf(saver)).toEqual(["done 0", "done 1", ...interrupted]);
    expect(await saver.stats("asks")).toMatchObject({ interrupted: true });
    expect(await saver.deleteOlderThan(DAY, { interrupted: true })).toBe(2);
    expect(await idsOf(saver, { sessions: true })).toEqual([
      "done 0",
      "done 1",
      `${fence.session_id}:0`,
    ]);
    for (const age of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(saver.deleteOlderThan(age)).rejects.toMatchObject({ code: "invalid_usage" });
    }
  });

  it("[THREAD-22] are kept when the age is absurd", async () => {
    const { store, saver } = await open(engine);
    await put(saver, "precious");
    const year = 365 * DAY;
    expect(await saver.deleteOlderThan(1000 * year)).toBe(0);
    const days = 86_400_000_000;
    for (const age of [1000 * year + 1, 1500 * days, 5 * 365 * days, 8.64e15, 1e300]) {
      await expect(saver.deleteOlderThan(age)).rejects.toMatchObject({
        code: "invalid_usage",
        message: expect.stringContaining("1,000 years"),
      });
      // nor does the database take a time before the year 1 for a later one
      const old = { older_than_ms: age, interrupted: true };
      expect(await store.read(readOldThreads, { ...old, after: 0 })).toMatchObject({
        thread_ids: [],
      });
      expect(await store.write(deleteOldThreads, { ...old, thread_ids: ["precious"] })).toEqual([]);
    }
    expect(await store.read(clockMovedBy, -1e300)).toMatch(/^00\d\d-\d\d-\d\dT[\d:.]+Z$/);
    expect(await store.read(clockMovedBy, 1e300)).toMatch(/^39\d\d-\d\d-\d\dT[\d:.]+Z$/);
    expect(await idsOf(saver)).toEqual(["precious"]);
  });

  it("[THREAD-19] are deleted by age around one that is damaged, which is named and kept", async () => {
    const { store, saver } = await open(engine);
    for (const id of ["first", "value", "text", "versions", "shape", "writes", "last"]) {
      await saver.putWrites(await put(saver, id), [["messages", "m"]], "task");
    }
    const damage = (assignment: string, thread_id: string) =>
      execute(
        store,
        `UPDATE ${assignment} WHERE thread = (SELECT id FROM threads WHERE thread_id = ?)`,
        thread_id,
      );
    await damage(`checkpoints SET channels = '{"x":{"q":1}}'`, "value");
    await damage("checkpoints SET channels = '{'", "text");
    await damage("checkpoints SET versions = '1,2,3'", "versions");
    await damage("checkpoint_bodies SET body = '[]'", "shape");
    await damage("checkpoint_writes SET writes = '{}'", "writes");
    await execute(store, "UPDATE checkpoints SET ts = ?", "2020-01-01T00:00:00.000Z");

    await expect(saver.deleteOlderThan(1)).rejects.toMatchObject({
      code: "database_corrupt",
      message:
        '2 threads deleted, 5 damaged threads kept: "value", "text", "versions", "shape", "writes". Restore a backup, or delete what is damaged with `deleteThread`.',
    });
    expect(await idsOf(saver)).toHaveLength(5);
    for (const id of await idsOf(saver)) {
      await expect(saver.stats(id)).rejects.toMatchObject({ code: "database_corrupt" });
    }
    await saver.deleteThread("value");
    expect(await saver.deleteOlderThan(1, { interrupted: true })).toBe(4);
  });
});
