import { writeFileSync } from "node:fs";

import { expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { createCheckpointSaver } from "../../../src/langgraph/saver.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { messagesOf } from "../../../src/agent/messages/thread-state.ts";
import { threadId } from "../../../src/core/threads.ts";
import { finishExchange } from "../../../src/store/checkpoints/finish.ts";
import { releaseLease } from "../../../src/store/records/leases/lease.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { type Bench, openBench } from "../../helpers/exchanger.ts";
import { expectNoDrift } from "../../helpers/compare.ts";
import {
  type ModelAnswer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import { readKept } from "../../helpers/checkpoints/kept.ts";

async function expectProven(bench: Bench): Promise<void> {
  await expectNoDrift(bench.database, bench.session.id);
  expect((await verifySession(bench.store, bench.session.id)).findings).toEqual([]);
}

/** Reads a file in two rounds of two calls each, then answers. */
function withTools(messages: readonly SentMessage[], index: number): ModelAnswer {
  const results = messages.slice(messages.findLastIndex(({ role }) => role === "user")).length - 1;
  return results < 6
    ? {
        toolCalls: ["a", "b"].map((name) => ({
          id: `${name}${index}`,
          name: "read_file",
          arguments: JSON.stringify({ path: "note.txt" }),
        })),
      }
    : { content: `answer after ${messages.length}` };
}

it("[LONG-1] keeps one checkpoint of each finished exchange, each following the one before", async () => {
  const server = await startModelServer({ answer: withTools });
  const bench = await openBench(server);
  writeFileSync(`${bench.repo}/note.txt`, "a note ".repeat(100));
  const grown: { bodies: number; lists: number; writes: number }[] = [];
  for (let index = 1; index <= 5; index += 1) {
    await bench.run({ text: `question ${index}` });
    const kept = await bench.store.read(readKept, null);
    expect(kept.checkpoints).toHaveLength(index);
    expect(kept.dangling).toEqual([]);
    grown.push(kept);
  }
  const { checkpoints, writes, lists } = await bench.store.read(readKept, null);
  expect(checkpoints.map(({ parent_id }) => parent_id)).toEqual([
    null,
    ...checkpoints.slice(0, -1).map(({ checkpoint_id }) => checkpoint_id),
  ]);
  expect({ writes, lists }).toEqual({ writes: 0, lists: 1 });
  // nothing but the messages: question, 2 x (calls, 2 results), answer
  expect(grown[4]!.bodies - grown[3]!.bodies).toBe(8);
  expect(server.refused()).toEqual([]);
  await expectProven(bench);
});

it("[LONG-1] [LONG-13] continues from a pruned thread, in the same process and in another one", async () => {
  const server = await startModelServer({ answer: withTools });
  const bench = await openBench(server);
  writeFileSync(`${bench.repo}/note.txt`, "a note");
  await bench.run({ text: "one" });
  const other = createExchanger(bench.parts);
  const live = { listener: () => {}, signal: new AbortController().signal };
  await other.exchange({ session_id: bench.session.id, text: "two" }, live);
  // this one remembers values and lists that the other has pruned
  await bench.run({ text: "three" });
  await other.exchange({ session_id: bench.session.id, text: "four" }, live);
  const said = server
    .requests()
    .at(-1)!
    .filter(({ role }) => role === "user");
  expect(said.map(({ content }) => content)).toEqual(["one", "two", "three", "four"]);
  const kept = await bench.store.read(readKept, null);
  expect(kept.checkpoints).toHaveLength(4);
  expect(kept.dangling).toEqual([]);
  await expectProven(bench);
});

it("[LONG-1] reads each kept checkpoint as it was", async () => {
  const server = await startModelServer({ answer: (_, index) => ({ content: `answer ${index}` }) });
  const bench = await openBench(server);
  for (const text of ["one", "two", "three"]) {
    await bench.run({ text });
  }
  const thread_id = threadId(bench.session.id, 0);
  const saver = createCheckpointSaver({ store: bench.store });
  const lengths: number[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id } })) {
    lengths.push(messagesOf(tuple).length);
    const again = await saver.getTuple(tuple.config);
    expect(again?.parentConfig).toEqual(tuple.parentConfig);
  }
  expect(lengths).toEqual([6, 4, 2]);
});

it("[LONG-2] does not prune an interrupted exchange until the next one is finished", async () => {
  let broken = true;
  const server = await startModelServer({
    answer: (messages, index) => {
      const results = messages.filter(({ role }) => role === "tool").length;
      return broken || results > 0 ? { content: "answer" } : withTools(messages, index);
    },
    latencyMs: 30,
    chunkSize: 2,
  });
  const bench = await openBench(server);
  await bench.run({ text: "one" });
  const stop = new AbortController();
  const stopped = await bench.run(
    { text: "two", keep_partial: false },
    { signal: stop.signal, listener: ({ type }) => type === "text" && stop.abort() },
  );
  expect(stopped.state).toBe("stopped");
  const during = await bench.store.read(readKept, null);
  expect(during.checkpoints.length).toBeGreaterThan(2);
  broken = false;
  await bench.run({ text: null });
  const after = await bench.store.read(readKept, null);
  expect(after.checkpoints).toHaveLength(2);
  expect(after.checkpoints[1]!.parent_id).toBe(after.checkpoints[0]!.checkpoint_id);
  expect(after.dangling).toEqual([]);
  await expectProven(bench);
});

it("[LONG-2] prunes with the next exchange what a process left that was killed before it pruned", async () => {
  const server = await startModelServer({ answer: withTools });
  const bench = await openBench(server);
  writeFileSync(`${bench.repo}/note.txt`, "a note");
  await bench.run({ text: "one" });
  // all that a killed process does not do any more
  const killed: Store = {
    ...bench.store,
    write: (operation, input) =>
      [finishExchange, releaseLease].some((last) => Object.is(last, operation))
        ? Promise.reject(new Error("killed"))
        : bench.store.write(operation, input),
  };
  const owner = { ...bench.parts.owner, pid: GONE };
  const dying = createExchanger({ ...bench.parts, store: killed, owner });
  const live = { listener: () => {}, signal: new AbortController().signal };
  await expect(dying.exchange({ session_id: bench.session.id, text: "two" }, live)).rejects.toThrow(
    "killed",
  );
  expect((await bench.store.read(readKept, null)).checkpoints.length).toBeGreaterThan(3);
  await bench.run({ text: "three" });
  const kept = await bench.store.read(readKept, null);
  expect(kept.checkpoints).toHaveLength(2);
  expect(kept.dangling).toEqual([]);
  expect(kept.writes).toBe(0);
  await expectProven(bench);
});

it("[LONG-2] returns the lease if pruning fails, and prunes later", async () => {
  const server = await startModelServer({ answer: (_, index) => ({ content: `answer ${index}` }) });
  const bench = await openBench(server);
  const failing: Store = {
    ...bench.store,
    write: (operation, input) =>
      Object.is(finishExchange, operation)
        ? Promise.reject(new Error("no fold"))
        : bench.store.write(operation, input),
  };
  const exchanger = createExchanger({ ...bench.parts, store: failing });
  const live = { listener: () => {}, signal: new AbortController().signal };
  await exchanger.exchange({ session_id: bench.session.id, text: "one" }, live);
  const { activity } = await bench.store.read(readSession, { id: bench.session.id });
  expect(activity).toBe("idle");
  expect((await bench.store.read(readKept, null)).checkpoints.length).toBeGreaterThan(1);
  await bench.run({ text: "two" });
  expect((await bench.store.read(readKept, null)).checkpoints).toHaveLength(1);
  await expectProven(bench);
});

/** Above what Linux gives to any process. */
const GONE = 2 ** 22 + 1;
